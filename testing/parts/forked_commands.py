"""`freshet` for a shell, whose commands are forks of one process that has loaded what they need.

A command that is started by itself computes for about a second before it does anything.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from runtime.child_processes import Fork, end_with_parent, python_command

STARTING_PROCESSES = ("demo", "serve", "api", "worker", "scheduler")
"""The commands that run by themselves: they are stopped by signals, and have children."""
PROGRAM = """#!{python} -IS
import json, os, socket, sys

if sys.argv[1] in {by_themselves}:
    os.execv("{installed}", sys.argv)
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect("{address}")
    socket.send_fds(connection, [b"-"], [0, 1, 2])
    connection.sendall(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
    connection.shutdown(socket.SHUT_WR)
    sys.exit(connection.recv(1)[0])
"""


@contextmanager
def forked_commands() -> Iterator[Path]:
    """Give a folder with a `freshet` whose commands are forks, to be the first of a PATH."""
    # A socket's path has at most 103 bytes, which a deep temporary folder would exceed.
    with TemporaryDirectory(prefix="freshet-", dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        program, address = Path(folder) / "freshet", Path(folder) / "socket"
        installed = Path(sys.executable).with_name("freshet")
        program.write_text(
            PROGRAM.format(
                python=sys.executable, by_themselves=STARTING_PROCESSES, installed=installed, address=address
            )
        )
        program.chmod(0o700)
        listener.bind(str(address))
        listener.listen()
        number = listener.fileno()
        with subprocess.Popen(python_command(__name__, str(number)), pass_fds=[number]) as server:
            listener.close()  # a command fails where the server has ended
            try:
                yield Path(folder)
            finally:
                server.kill()


def _serve(listener: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        _load()
        Fork(partial(_answer, connection), (signal.SIGCHLD,))
        connection.close()


@cache
def _load() -> None:
    from runtime.process import use_one_thread

    use_one_thread()  # before numpy is loaded, whose threads a fork would lack
    from freshet.cli.commands import commands, loaded
    from freshet.supervisor.supervised_process import load_parts

    for words in commands():
        loaded(words)
    load_parts()


def _answer(connection: socket.socket) -> None:
    """Run a command, and send its exit code as a shell has it."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as text:
        arguments, folder, environment = json.load(text)
    code = Fork(partial(_run, files, arguments, folder, environment), ()).wait()
    connection.sendall(bytes([code if code >= 0 else 128 - code]))


def _run(files: Sequence[int], arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
    from freshet.cli.main import main

    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["freshet", *arguments]
    main()


if __name__ == "__main__":
    end_with_parent()
    _serve(socket.socket(fileno=int(sys.argv[1])))
