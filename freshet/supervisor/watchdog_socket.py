"""Receives the heartbeats of the service's parts (`runtime.watchdog`)."""

import socket
import struct

_CREDENTIALS = struct.Struct("3i")  # process, user, group: the kernel fills them in
_MAX_SIGN = 4096  # bytes


class WatchdogSocket:
    """A socket without a file, closed when this process ends.

    Attributes:
        address: the value for NOTIFY_SOCKET.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.bind("")  # the kernel finds a name
        self._socket.setblocking(False)
        self.address = "@" + self._socket.getsockname()[1:].decode()

    def received_pids(self) -> set[int]:
        """Return the ids of the processes that sent a heartbeat since the last call."""
        processes: set[int] = set()
        while True:
            try:
                _, ancillary, *_ = self._socket.recvmsg(_MAX_SIGN, socket.CMSG_SPACE(_CREDENTIALS.size))
            except BlockingIOError:
                return processes
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                    processes.add(_CREDENTIALS.unpack(content)[0])

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
