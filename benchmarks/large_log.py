"""How long does ``distlint diagnose`` take for a very large log, with how much memory?

Writes the log of a job of many ranks, in which one rank never comes to a collective, and measures
a run over it in a process of its own.

    python -m benchmarks.large_log --size 1000 --ranks 512
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

MISSING = 317
TIMEOUT = 600_000  # milliseconds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000, help="megabytes (10**6 bytes)")
    parser.add_argument("--ranks", type=int, default=512)
    parser.add_argument("--gzip", action="store_true")
    parser.add_argument("--debug", action="store_true", help="lines as of NCCL_DEBUG=INFO as well")
    chosen = parser.parse_args(arguments)
    missing = MISSING % chosen.ranks
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "job.log.gz" if chosen.gzip else "job.log")
        with gzip.open(log, "wb", 1) if chosen.gzip else log.open("wb") as file:
            lines = write(file, chosen.size * 10**6, chosen.ranks, missing, debug=chosen.debug)
        start = time.perf_counter()
        command = [sys.executable, "-m", "distlint", "diagnose", "--json", str(log)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory, processor = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
    cause = json.loads(finished.stdout)["cause"]
    what = f"{chosen.size} MB, {lines:,} lines, {chosen.ranks} ranks"
    print(f"{what}: {seconds:.1f} s ({processor:.1f} s of processor time), {memory:.0f} MiB")
    print(cause["title"])
    return 0 if cause["ranks"] == [missing] else 1


def write(file: IO[bytes], size: int, ranks: int, missing: int, *, debug: bool = False) -> int:
    """Write about ``size`` bytes of a job's log; the result is the number of lines."""
    chance = random.Random(ranks)
    written = lines = step = 0
    while written < size:
        step += 1
        block = []
        for rank in chance.sample(range(ranks), ranks):
            block.append(_progress(chance, rank, step))
            if debug and rank % 8 == 0:
                block.append(
                    f"node{rank // 8}:{4000 + rank}:{5000 + rank} [{rank % 8}] NCCL INFO "
                    f"AllReduce: opCount {step:x} sendbuff 0x7f recvbuff 0x7f count 1 op 0 root 0"
                )
        data = "\n".join(block).encode() + b"\n"
        written += file.write(data)
        lines += len(block)
    tail = [f"[rank{missing}]: 2026-11-22 04:40:00,000 INFO eval.py: loss is nan, leaving the loop"]
    for rank in chance.sample(range(ranks), ranks):
        if rank != missing:
            tail += _watchdog(rank, step)
    file.write("\n".join(tail).encode() + b"\n")
    return lines + len(tail)


def _progress(chance: random.Random, rank: int, step: int) -> str:
    loss, speed = 2 + chance.random(), 40_000 + chance.randrange(999)
    return (
        f"[rank{rank}]: 2026-11-22 04:{step // 60 % 60:02}:{step % 60:02},123 INFO train.py: "
        f"step {step} loss {loss:.4f} lr 3.0e-4 tokens/s {speed} memory 71.2 GiB"
    )


def _watchdog(rank: int, step: int) -> list[str]:
    head = f"[rank{rank}]:[E1122 04:50:00.{rank:06} ProcessGroupNCCL.cpp:685] [Rank {rank}]"
    return [
        f"{head} Watchdog caught collective operation timeout: WorkNCCL(SeqNum={step}, "
        f"OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)={TIMEOUT}) ran for "
        f"{TIMEOUT + rank} milliseconds before timing out.",
        f"{head} Some NCCL operations have failed or timed out. Due to the asynchronous nature of "
        "CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.",
        f"{head} To avoid data inconsistency, we are taking the entire process down.",
    ]


if __name__ == "__main__":
    sys.exit(main())
