"""`python -m justesse` is the command `justesse`."""

from justesse.cli import main

if __name__ == "__main__":
    main()
