"""What one forked rank does: set up environment and standard streams, run the script, exit."""

from __future__ import annotations

import datetime
import faulthandler
import functools
import os
import sys
import tempfile
import time
import traceback
import types
from pathlib import Path
from typing import Any, NoReturn

from distlint.harness import recorder

COLLECTIVE_TIMEOUT = 1.5  # seconds until gloo gives up on a collective whose peers do not come

_kept: list[object] = []
"""Process groups. Freed with the GIL held, now and then one waits for ever for its own thread."""


def shorten_timeouts() -> None:
    """Let process groups give up after COLLECTIVE_TIMEOUT, and meet in a file, not at a port."""
    import torch.distributed as dist
    from torch._C._distributed_c10d import FileStore
    from torch.distributed import distributed_c10d

    limit = datetime.timedelta(seconds=COLLECTIVE_TIMEOUT)
    original = distributed_c10d.init_process_group

    @functools.wraps(original)
    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        names = ("backend", "init_method", "timeout", "world_size", "rank", "store")
        kwargs.update(zip(names, args, strict=False))
        if kwargs.get("store") is None:
            kwargs.pop("init_method", None)
            world, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
            kwargs["world_size"], kwargs["rank"] = world, rank
            kwargs["store"] = FileStore(os.environ["DISTLINT_TEST_STORE"], world)
        kwargs["timeout"] = limit
        result = original(**kwargs)
        _kept.append(distributed_c10d.GroupMember.WORLD)
        Path(f"{os.environ['DISTLINT_TEST_STORE']}.met{kwargs['rank']}").touch()
        return result

    for module in (dist, distributed_c10d):
        vars(module)["init_process_group"] = init_process_group
    vars(distributed_c10d)["_get_default_timeout"] = lambda backend: limit


def run(script: str, arguments: list[str], folder: str, rank: int, world: int) -> NoReturn:
    """Run ``script`` as ``__main__``; leave ``out``, ``err`` and ``log`` of it in the folder."""
    os.setsid()  # so that what it starts can be killed with it
    for stream, name in ((1, "out"), (2, "err")):
        handle = os.open(f"{folder}/{name}{rank}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, stream)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    os.environ.update(_environment(folder, rank, world))
    os.chdir(f"{folder}/work")
    tempfile.tempdir = None  # look at TMPDIR again
    recorder.open_log(f"{folder}/log{rank}", script)

    import torch

    torch.set_num_threads(1)
    _forget_the_seeds()
    faulthandler.dump_traceback_later(20, exit=False)
    status = _execute(script, arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    if _kept and status == 0:
        _let_the_others_connect(world)
    os._exit(status)


def _forget_the_seeds() -> None:
    """Generators are seeded anew in each process that a launcher starts; a fork copies them."""
    import torch

    torch.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _let_the_others_connect(world: int) -> None:
    """A rank that has nothing to do may be at its end while gloo still connects the others."""
    files = [Path(f"{os.environ['DISTLINT_TEST_STORE']}.met{rank}") for rank in range(world)]
    give_up = time.monotonic() + COLLECTIVE_TIMEOUT
    while time.monotonic() < give_up and not all(file.exists() for file in files):
        time.sleep(0.01)


def _environment(folder: str, rank: int, world: int) -> dict[str, str]:
    """What torchrun would set, on one node."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world),
        "LOCAL_WORLD_SIZE": str(world),
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
        "TORCHELASTIC_RUN_ID": "distlint",
        "ACCELERATE_USE_CPU": "true",
        "GLOO_SOCKET_IFNAME": "lo",
        "DISTLINT_TEST_STORE": f"{folder}/store",
        "TMPDIR": f"{folder}/work",
    }


def _execute(script: str, arguments: list[str]) -> int:
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(script))
    try:
        exec(compile(Path(script).read_text(), script, "exec"), main.__dict__)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return int(stop.code or 0) & 255
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
