"""What agreeing costs: ``any_rank`` beside a bare all_reduce, and a round through the store.

Two gloo ranks on one machine. Calls of both kinds alternate in blocks, so that a disturbance hits
both; the figure is the median over pairs of blocks, with its quartiles.

    python -m benchmarks.agreement_cost
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable

BLOCK, PAIRS = 100, 151


def main() -> int:
    import torch.multiprocessing as mp

    from distlint.runtime import free_port

    mp.spawn(_rank, args=(free_port(),), nprocs=2)
    return 0


def _rank(rank: int, port: int) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1")
    os.environ.update(MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    import torch
    import torch.distributed as dist

    from distlint.runtime import any_rank, from_main, named_barrier

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    flag = torch.zeros(1, dtype=torch.int32)

    def bare() -> None:
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)

    _block(bare), _block(lambda: any_rank(False))
    pairs = [(_block(bare), _block(lambda: any_rank(False))) for _ in range(PAIRS)]
    handed = _block(lambda: from_main(1))
    met = _block(lambda: named_barrier("x"))
    if rank == 0:
        ratios = sorted(two / one for one, two in pairs)
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"all_reduce    {_median(one for one, _ in pairs):6.1f} microseconds")
        print(f"any_rank      {_median(two for _, two in pairs):6.1f}")
        print(f"ratio         {middle:6.2f}  ({low:.2f} to {high:.2f})")
        print(f"from_main     {handed:6.1f}")
        print(f"named_barrier {met:6.1f}")
    dist.destroy_process_group()


def _median(values: object) -> float:
    return statistics.median(values)  # type: ignore[call-overload,no-any-return]


def _block(call: Callable[[], object]) -> float:
    """Microseconds for one call."""
    start = time.perf_counter()
    for _ in range(BLOCK):
        call()
    return (time.perf_counter() - start) / BLOCK * 1e6


if __name__ == "__main__":
    sys.exit(main())
