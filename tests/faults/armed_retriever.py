"""The retriever with a point armed at which it ends or fails; for tests alone."""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import os

from retriever_svc.__main__ import main
from retriever_svc.embedded.failpoints import arm

if __name__ == "__main__":
    arm(os.environ)
    main()
