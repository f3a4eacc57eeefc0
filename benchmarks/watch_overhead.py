"""What the collective watch costs per all_reduce, beside DETAIL and Accelerate's debug mode.

    python -m benchmarks.watch_overhead [--pairs 9] [--cpu] [--json FILE]

Two gloo ranks; all modes run in one process per rank. Within a pair they take turns every few
calls, so that whatever else the machine does meets all of them alike. Both watches live for the
whole run and their threads beat all the time; what a thread costs is measured apart, as CPU time
per beat, and printed below the table. DETAIL has a group of its own, since it wraps groups when
they are made. ``accelerate`` is ``accelerate.utils.reduce``, once without and once with its debug
mode. With ``--cpu`` the asynchronous watch is measured alone, by the CPU time of the calling
thread: that is what it costs, however busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = (1, 1024, 64 * 1024, 1024 * 1024)
MODES = ("plain", "watch", "strict", "detail", "accelerate", "accelerate debug")
BASES = {"accelerate debug": "accelerate"}
SECONDS = 0.02  # that one turn of a mode takes, about
TURNS = 10  # of each mode in a pair; a pair counts by the median of its turns
MOST_CALLS = {False: 500, True: 60}  # in a turn; a busy machine is given less to do


def main() -> int:
    """Start the two ranks, or be one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if "RANK" in os.environ:
        rows = measure(options.pairs, cpu=options.cpu)
        if os.environ["RANK"] == "0":
            print(table(rows, options.pairs))
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
        return 0
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command = [*launcher, "--nproc-per-node", "2", "-m", "benchmarks.watch_overhead", *sys.argv[1:]]
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "ACCELERATE_USE_CPU": "true",
    }
    return subprocess.run(command, env=environment, check=False).returncode


def measure(pairs: int, *, cpu: bool) -> dict[str, dict[str, list[list[float]]]]:
    """Microseconds a call, by size and mode: for each pair, one number for each turn."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    detail = dist.new_group(backend="gloo")
    dist.set_debug_level(dist.DebugLevel.OFF)
    modes = {**_watched(), **_others(detail)}
    names = ("plain", "watch") if cpu else MODES
    clock = time.thread_time if cpu else time.perf_counter
    found: dict[str, dict[str, list[list[float]]]] = {}
    for size in SIZES:
        tensor = torch.ones(size)
        count = min(MOST_CALLS[cpu], _count(modes["plain"], tensor))
        found[str(size)] = {mode: [] for mode in names}
        for number in range(pairs + 1):
            turns: dict[str, list[float]] = {mode: [] for mode in names}
            for turn in range(TURNS):
                for mode in names if turn % 2 else reversed(names):
                    turns[mode].append(_time(modes[mode], tensor, count, clock))
            if number:  # the first round warms up
                for mode in names:
                    found[str(size)][mode].append(turns[mode])
    if dist.get_rank() == 0:
        _print_threads()
    _end_threads()
    return found


Mode = tuple[Callable[[], None], Callable[..., object]]
_watchers: dict[str, tuple[Any, float]] = {}


def _watched() -> dict[str, Mode]:
    """The call without a watch, and with each of the two, switched by replacing two functions."""
    import torch.distributed as dist

    from distlint.runtime.collective_watch.hooks import Hooks
    from distlint.runtime.collective_watch.session import Options
    from distlint.runtime.collective_watch.watcher import Watcher

    def switch(function: Any, wait: Any) -> Callable[[], None]:
        def on() -> None:
            dist.all_reduce = function
            dist.Work.wait = wait

        return on

    def call(tensor: object) -> None:
        dist.all_reduce(tensor)

    modes: dict[str, Mode] = {"plain": (switch(dist.all_reduce, dist.Work.wait), call)}
    for mode in ("watch", "strict"):
        watcher = Watcher(Options(strict=mode == "strict"))
        hooks = Hooks(watcher)
        hooks.install()
        modes[mode] = (switch(dist.all_reduce, dist.Work.wait), call)
        hooks.uninstall()
        watcher.attach()
        _watchers[mode] = (watcher, time.monotonic())
    return modes


def _others(detail: object) -> dict[str, Mode]:
    import torch.distributed as dist
    from accelerate import PartialState
    from accelerate.utils import reduce

    all_reduce, wait = dist.all_reduce, dist.Work.wait
    state = PartialState(cpu=True)
    assert state.num_processes == 2
    assert state.distributed_type != "NO"

    def switch(debug: bool) -> Callable[[], None]:
        def on() -> None:
            dist.all_reduce, dist.Work.wait = all_reduce, wait
            state.debug = debug  # what ACCELERATE_DEBUG_MODE=1 sets

        return on

    def detailed(tensor: object) -> None:
        dist.all_reduce(tensor, group=detail)

    def accelerated(tensor: object) -> None:
        reduce(tensor, "sum")

    return {
        "detail": (switch(False), detailed),
        "accelerate": (switch(False), accelerated),
        "accelerate debug": (switch(True), accelerated),
    }


def _print_threads() -> None:
    for mode, (watcher, began) in _watchers.items():
        session = watcher._session
        lasted = time.monotonic() - began
        print(
            f"thread of {mode}: {1e3 * session.spent / session._beat:.1f} ms CPU a beat, "
            f"{100 * session.spent / lasted:.2f} % of a core"
        )


def _end_threads() -> None:
    for watcher, _ in _watchers.values():
        watcher.detach("has measured")


def _count(mode: Mode, tensor: object) -> int:
    """How many calls fit the time of a turn, the same on both ranks."""
    import torch
    import torch.distributed as dist

    spent = torch.tensor(_time(mode, tensor, 50, time.perf_counter))
    dist.all_reduce(spent, dist.ReduceOp.MAX)
    return max(8, int(SECONDS * 1e6 / spent.item()))


def _time(mode: Mode, tensor: object, count: int, clock: Callable[[], float]) -> float:
    switch, call = mode
    switch()
    for _ in range(3):
        call(tensor)
    began = clock()
    for _ in range(count):
        call(tensor)
    return (clock() - began) / count * 1e6


def table(rows: dict[str, dict[str, list[list[float]]]], pairs: int) -> str:
    """Medians, and the cost over the call without the mode as median of the pairs and spread."""
    lines = [
        f"| floats | mode | a call | added, median of {pairs} pairs | quartiles | least and most |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for size, modes in rows.items():
        for mode in modes:
            call = statistics.median(map(statistics.median, modes[mode]))
            if mode in ("plain", "accelerate"):
                lines.append(f"| {size} | {mode} | {call:.0f} us | | | |")
                continue
            base = BASES.get(mode, "plain")
            added = [
                statistics.median(x - y for x, y in zip(one, other, strict=True))
                for one, other in zip(modes[mode], modes[base], strict=True)
            ]
            low, middle, high = statistics.quantiles(added, n=4)
            share = middle / statistics.median(map(statistics.median, modes[base]))
            lines.append(
                f"| {size} | {mode} | {call:.0f} us | {middle:+.0f} us ({100 * share:+.0f} %) "
                f"| {low:+.0f} to {high:+.0f} | {min(added):+.0f} to {max(added):+.0f} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
