"""Where the values that a script does not determine come from.

Each execution asks for its unknown values one by one. ``Systematic`` walks the tree of all
answers depth first; ``Sampled`` draws them at random.
"""

from __future__ import annotations

import random
from typing import Protocol


class Chooser(Protocol):
    """Answers the questions of one execution."""

    def uniform(self, options: int) -> int:
        """Choose a value that all ranks share."""

    def local(self, rank: int) -> int:
        """Choose a truth value that belongs to one rank and one evaluation."""

    def failure(self, rank: int, kinds: int) -> int:
        """Choose how a call fails on one rank: 0 not at all, else one of ``kinds`` ways."""


class Systematic:
    """Every combination of answers, one per execution.

    Call :meth:`advance` after each execution; it returns False once all have been seen.
    """

    def __init__(self) -> None:
        self._path: list[list[int]] = []
        self._depth = 0

    def _choose(self, options: int) -> int:
        if self._depth == len(self._path):
            self._path.append([0, options])
        answer = self._path[self._depth][0]
        self._depth += 1
        return answer

    def uniform(self, options: int) -> int:
        return self._choose(options)

    def local(self, rank: int) -> int:
        return self._choose(2)

    def failure(self, rank: int, kinds: int) -> int:
        return self._choose(kinds + 1)

    def advance(self) -> bool:
        """Move to the next combination."""
        del self._path[self._depth :]
        while self._path:
            last = self._path[-1]
            last[0] += 1
            if last[0] < last[1]:
                break
            self._path.pop()
        self._depth = 0
        return bool(self._path)


class Sampled:
    """Answers at random, with a bias that is drawn anew for each execution.

    Fair coins alone rarely keep four ranks together long enough to reach what lies behind a
    string of local conditions, so most executions lean one way, and some let one rank differ.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._draw = self._random.random
        self.restart()

    def restart(self) -> None:
        """Begin another execution."""
        draw = self._draw
        self._true = (0.5, 0.15, 0.85, 0.0, 1.0)[int(draw() * 5)]
        self._odd_true = (0.5, 0.5, 0.5, 0.9, 0.1)[int(draw() * 5)]
        self._fail = (0.0, 0.05, 0.2, 0.5)[int(draw() * 4)]
        self._odd_fail = (0.1, 0.5, 0.9)[int(draw() * 3)]
        self._odd = int(draw() * 6)  # 4 and 5: no rank stands out

    def uniform(self, options: int) -> int:
        return int(self._draw() * options)

    def local(self, rank: int) -> int:
        return self._draw() < (self._odd_true if rank == self._odd else self._true)

    def failure(self, rank: int, kinds: int) -> int:
        if self._draw() < (self._odd_fail if rank == self._odd else self._fail):
            return 1 + int(self._draw() * kinds)
        return 0
