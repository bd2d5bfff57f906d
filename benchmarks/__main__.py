"""Runs the benchmarks: `python -m benchmarks [--quick] [NAME...]`."""

import chassis.process_environment  # isort: skip  # noqa: F401 - before native libraries load

import argparse
import sys
import time
import traceback

from benchmarks.catalogue import BENCHMARKS
from benchmarks.machine import machine
from benchmarks.performance_table import write_tables
from benchmarks.results import keep


def main() -> None:
    """Runs the named benchmarks, or all but those that want to be named, and prints their figures.

    Unless it is to be quick, the figures are kept as JSON, and the tables of the documentation are
    written from them. One that fails does not keep the others from running; the exit code is 1.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, nothing kept")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    names = arguments.names or [
        name for name, benchmark in BENCHMARKS.items() if not benchmark.only_when_named
    ]
    failed = [name for name in names if not _run(name, quick=arguments.quick)]
    if not arguments.quick:
        write_tables()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def _run(name: str, *, quick: bool) -> bool:
    benchmark = BENCHMARKS[name]
    expected = "" if quick else f", expected to take {benchmark.expected_s} s on two quiet cores"
    print(f"\n{name}{expected}", flush=True)
    started = time.monotonic()
    try:
        figures = benchmark.measure(quick)
    except Exception:
        traceback.print_exc()
        return False
    took_s = time.monotonic() - started
    for figure, value in figures.items():
        shown = "not measured" if value is None else f"{value:.3f}"
        print(f"  {figure:<60} {shown:>12}")
    print(f"  took {took_s:.0f} s", flush=True)
    if not quick:
        keep(name, machine(), figures, took_s)
    return True


if __name__ == "__main__":
    main()
