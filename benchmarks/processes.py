"""Processes that are measured from outside."""

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
