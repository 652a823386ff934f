"""Processes seen from outside: ports, children, parts of the service, CPU time."""

import os
import socket
from pathlib import Path


def free_port() -> int:
    """Return a port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds that a process has taken, of user and system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def part_name(process: int) -> str:
    """Return the name of the part that a process is; of one that is just being forked: `starting`."""
    command = Path(f"/proc/{process}/cmdline").read_text().rstrip("\0")
    if "valkey" in command.partition("\0")[0]:
        return "broker"
    words = command.split(" ")
    if words[0] != "freshet":
        return "starting"
    return f"worker {words[3]}" if words[1] == "worker" else words[1]


def children(process: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def runs(process: int) -> bool:
    """Whether a process is there, stopped or not, and not only its remains."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def peak_mib() -> float:
    """Return the peak of this process alone (`ru_maxrss` begins with that of the process it came from)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
