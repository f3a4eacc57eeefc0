"""torchrun as ``distlint run`` starts it: quiet about having been ended from outside.

Whoever presses Ctrl-C knows it; torchrun's warnings and tracebacks about it would bury the table
of the watch.
"""

from __future__ import annotations

import logging
import os
import sys


class _Quiet(logging.Filter):
    """Drops what torchrun logs once it has got a signal to end."""

    ending = False

    def filter(self, record: logging.LogRecord) -> bool:
        message = str(record.msg)
        if "death signal" in message:
            self.ending = True
        return not (self.ending and ("death signal" in message or "closing signal" in message))


def main() -> None:
    """Run torchrun with the arguments of this process."""
    from torch.distributed.elastic.agent.server import api as agent
    from torch.distributed.elastic.multiprocessing import api as processes
    from torch.distributed.run import main as torchrun

    quiet = _Quiet()
    for module in (agent, processes):
        module.logger.addFilter(quiet)
    try:
        torchrun(sys.argv[1:])
    except processes.SignalException as stop:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(128 + stop.sigval)  # torchrun's finalizers may complain where they are interrupted


if __name__ == "__main__":
    main()
