"""One rank runs out of memory: what becomes of the others, with Accelerate's decorator and ours.

A function with three all_reduces fails on rank 1 in the second step, before, inside or after it,
until the batch size is 2. The sums tell whether ranks paired what belongs together.

    python -m benchmarks.out_of_memory
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

START, FITS, STEPS = 8, 2, 3
TIMEOUT = 10  # seconds of the process group


def main(arguments: Sequence[str] | None = None) -> int:
    import torch.multiprocessing as mp

    from distlint.runtime import free_port

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    chosen = parser.parse_args(arguments)
    for size in chosen.ranks:
        for where in ("before", "inside", "after", "everywhere"):
            for tool in ("accelerate", "distlint"):
                print(f"{size} ranks, {where:10} {tool:10}", end=" ", flush=True)
                answers = mp.get_context("spawn").Queue()
                ranks = mp.spawn(
                    _rank, args=(size, free_port(), where, tool, answers), nprocs=size, join=False
                )
                found = dict(answers.get() for _ in range(size))
                for process in ranks.processes:
                    process.join(5)
                    process.kill()
                seconds = max(seconds for _, seconds in found.values())
                told = "; ".join(sorted({text for text, _ in found.values()}))
                print(f"{seconds:5.1f} s  {told}")
    return 0


def _rank(rank: int, size: int, port: int, where: str, tool: str, answers: Any) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1")
    os.environ.update(MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    import torch
    import torch.distributed as dist

    logging.disable()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=TIMEOUT))
    if tool == "accelerate":
        from accelerate.utils import find_executable_batch_size as theirs

        sizes = [START]

        def halve() -> int:
            sizes.append(sizes[-1] // 2)
            return sizes[-1]

        call: Callable[[], float] = theirs(_function(rank, where), START, halve)
    else:
        from distlint.runtime import find_executable_batch_size

        call = find_executable_batch_size(_function(rank, where), START, factor=0.5)
    start = time.monotonic()
    try:
        total = call()
        text = "right" if total == STEPS * FITS * size else f"wrong sum {total:g}"
    except Exception as error:
        text = type(error).__name__ + ": " + str(error).split("] ")[-1].split(". ")[0][:60]
    answers.put((rank, (text, time.monotonic() - start)))
    time.sleep(1)
    os._exit(0)


def _function(rank: int, where: str) -> Callable[[int], float]:
    import torch
    import torch.distributed as dist

    def fail() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    def function(batch_size: int) -> float:
        total = torch.zeros(1)
        here = batch_size > FITS and (rank == 1 or where == "everywhere")
        for step in range(STEPS):
            if here and step == 1 and where in ("before", "everywhere"):
                fail()
            mine = torch.full((1,), float(batch_size))
            work = dist.all_reduce(mine, async_op=True)
            if here and step == 1 and where == "inside":
                fail()
            assert work is not None
            work.wait()
            total += mine
        if here and where == "after":
            fail()
        return total.item()

    return function


if __name__ == "__main__":
    sys.exit(main())
