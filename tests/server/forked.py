"""Servers that start at once, for tests that start many.

``python -m tests.server.forked`` imports what a server needs, then forks one for each message on
its standard input, a socket. With the message come the standard streams of the server, and a pipe
to which its process number and, later, its exit status are written.
"""

from __future__ import annotations

import array
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NoReturn

from distlint import cli

SIZE = 1 << 20
"""More bytes than a message has."""

CAN_FORK = hasattr(os, "fork")
NEEDED = ("distlint.server.server", "distlint.engine.run")


class ForkedServer:
    """What tests use of a ``subprocess.Popen``."""

    def __init__(self, folder: Path) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self._status, theirs_status = os.pipe()
        message = json.dumps({"folder": str(folder), "environment": dict(os.environ)}).encode()
        given = array.array("i", [theirs_in, theirs_out, theirs_status])
        _forker().sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
        for handle in given:
            os.close(handle)
        self.stdin: IO[bytes] = os.fdopen(ours_in, "wb")
        self.stdout: IO[bytes] = os.fdopen(ours_out, "rb")
        self.pid = self._number()
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            ready, _, _ = select.select([self._status], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired("server", timeout or 0)
            self.returncode = self._number()
            os.close(self._status)
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def _number(self) -> int:
        return int(os.read(self._status, 20))


@functools.cache
def _forker() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    subprocess.Popen([sys.executable, "-m", __name__], stdin=theirs, cwd=Path(__file__).parents[2])
    theirs.close()
    return ours


def main() -> None:
    for module in NEEDED:
        importlib.import_module(module)
    gc.freeze()  # collections in a server need not copy what is here
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    messages = socket.socket(fileno=os.dup(0))
    while True:
        data, handles, _, _ = socket.recv_fds(messages, SIZE, 3)
        if not data:
            return  # the tests have ended
        if not os.fork():
            messages.close()
            _attend(json.loads(data), *handles)
        for handle in handles:
            os.close(handle)


def _attend(message: dict[str, Any], stdin: int, stdout: int, status: int) -> NoReturn:
    """Between the forker and a server, to wait for its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = os.fork()
    if not server:
        os.close(status)
        _serve(message, stdin, stdout)
    os.close(stdin)
    os.close(stdout)
    os.close(0)
    os.write(status, b"%d" % server)
    _, code = os.waitpid(server, 0)
    os.write(status, b"%d" % os.waitstatus_to_exitcode(code))
    os._exit(0)


def _serve(message: dict[str, Any], stdin: int, stdout: int) -> NoReturn:
    for handle, stream in ((stdin, 0), (stdout, 1)):
        os.dup2(handle, stream)
        os.close(handle)
    os.environ.clear()
    os.environ.update(message["environment"])
    os.chdir(message["folder"])
    sys.argv = ["distlint", "server"]
    os._exit(cli.main())


if __name__ == "__main__":
    main()
