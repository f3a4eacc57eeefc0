"""Kill a rank while checkpoints are written, again and again: does one always load?

Two ranks train and save without pause, keeping the newest three. At a random moment one of them is
killed with SIGKILL. Then the folder is loaded: its newest checkpoint has to be whole, and not older
than the last one that a rank had reported.

    python -m benchmarks.checkpoint_kills --rounds 100
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RANKS = 2
LONGEST = 1.0  # seconds until the kill
PATIENCE = 60.0  # seconds for the ranks to start

# The parent loads torch once and forks the ranks of each round.
SERVER = """
import os, sys, datetime
import torch, torch.distributed as dist
from distlint.runtime import save_checkpoint

def train(rank, ranks, folder, store):
    dist.init_process_group(
        "gloo", store=dist.FileStore(store, ranks), rank=rank, world_size=ranks,
        timeout=datetime.timedelta(seconds=5),
    )
    model = torch.nn.Linear(256, 1024)
    step = int(open(f"{folder}/reported").read()) if os.path.exists(f"{folder}/reported") else 0
    while True:
        step += 1
        model.weight.data.fill_(step)
        save_checkpoint(f"{folder}/step-{step}.pt", model, step=step, keep=3)
        if rank == 1:
            with open(f"{folder}/reported.new", "w") as file:
                file.write(str(step))
            os.replace(f"{folder}/reported.new", f"{folder}/reported")

for line in sys.stdin:
    folder, store, ranks = line.split()
    pids = []
    for rank in range(int(ranks)):
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            try:
                train(rank, int(ranks), folder, store)
            finally:
                os._exit(1)
        pids.append(pid)
    print(*pids, flush=True)
    sys.stdin.readline()
    for pid in pids:
        os.waitpid(pid, 0)
    print("over", flush=True)
"""


@dataclass(frozen=True)
class Round:
    """What a kill left behind."""

    victim: int
    after: float
    reported: int
    loaded: int
    error: str = ""


class Campaign:
    """Rounds in one folder, each going on from what the last one left."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder / "checkpoints"
        self.folder.mkdir()
        self.random = random.Random(seed)
        self.rounds = 0
        self.server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        )

    def close(self) -> None:
        """End the server."""
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait(timeout=30)

    def round(self) -> Round:
        """Start ranks, kill one, and load."""
        self.rounds += 1
        before = self._reported()
        pids = self._ask(f"{self.folder} {self.folder.parent}/store-{self.rounds} {RANKS}")
        end = time.monotonic() + PATIENCE
        while self._reported() == before:  # until they have begun to save
            if time.monotonic() > end:
                raise TimeoutError("the ranks do not save")
            time.sleep(0.005)
        victim, after = self.random.randrange(RANKS), self.random.uniform(0, LONGEST)
        time.sleep(after)
        os.kill(int(pids[victim]), signal.SIGKILL)
        reported = self._reported()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self._ask("")
        return self._load(victim, after, reported)

    def _ask(self, line: str) -> list[str]:
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(line + "\n")
        self.server.stdin.flush()
        return self.server.stdout.readline().split()

    def _reported(self) -> int:
        try:
            return int((self.folder / "reported").read_text() or 0)
        except FileNotFoundError:
            return 0

    def _load(self, victim: int, after: float, reported: int) -> Round:
        import torch

        from distlint.runtime import load_checkpoint

        model = torch.nn.Linear(256, 1024)
        newest = max(self.folder.glob("step-*.pt"), key=lambda f: int(f.stem.partition("-")[2]))
        try:
            step = load_checkpoint(newest, model).state["step"]
        except Exception as error:
            return Round(victim, after, reported, 0, f"{newest.name}: {error}")
        if step < reported or not bool((model.weight == step).all()):
            return Round(victim, after, reported, 0, f"{newest.name} is not what was saved")
        return Round(victim, after, reported, step)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder), chosen.seed)
        results = [campaign.round() for _ in range(chosen.rounds)]
        campaign.close()
        abandoned = len(list(campaign.folder.glob(".*.tmp")))
    lost = [result for result in results if not result.loaded]
    saved = results[-1].loaded if results else 0
    print(f"{len(results)} kills during {saved} saves: {len(results) - len(lost)} loaded")
    print(f"victims: {sum(r.victim == 0 for r in results)} times the writing rank")
    print(f"temporary files left at the end: {abandoned}")
    for result in lost:
        print(result)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
