"""Run scripts on a few processes under gloo, and say what became of them.

A :class:`Cluster` owns a zygote (see there), started when first needed. Torch is loaded there, not
here.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

LIMIT = 8.0  # seconds for a script; a stuck collective gives up after rank.COLLECTIVE_TIMEOUT

Effect = Literal["finishes", "hang", "fail", "wrong data"]

_STUCK = re.compile(
    r"Timed out waiting|Connection closed by peer|Connection reset|Broken pipe|Timeout at|"
    r"Socket Timeout|wait timeout|timed out|Application timeout|Read error|Write error",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Event:
    """A collective that a rank entered; ``done`` if it came back from it."""

    op: str
    group: tuple[int, ...]
    name: str
    """What tells the group from another one of the same ranks."""
    root: str
    reduce: str
    dtype: str
    detail: str
    line: int
    done: bool

    @property
    def key(self) -> tuple[object, ...]:
        """What the members of the group must agree on."""
        return (self.op, self.group, self.root, self.reduce, self.dtype, self.detail)


@dataclass(frozen=True)
class RankOutcome:
    """How one rank ended: ``exit`` is None when it had to be killed."""

    exit: int | None
    out: str
    err: str
    events: tuple[Event, ...]

    @property
    def stuck(self) -> bool:
        """Did it end (or was it killed) inside a collective that its peers did not join?"""
        if self.exit == 0:
            return False
        if self.exit is None or _STUCK.search(self.err):
            return True
        return bool(self.events) and not self.events[-1].done

    @property
    def values(self) -> dict[str, list[str]]:
        """What it printed as ``name = value``: these are meant to be equal on all ranks."""
        found: dict[str, list[str]] = {}
        for name, value in re.findall(r"^(\w+) = (.*)$", self.out, re.MULTILINE):
            found.setdefault(name, []).append(value)
        return found


@dataclass(frozen=True)
class Outcome:
    """How a script ended on all ranks."""

    ranks: tuple[RankOutcome, ...]
    seconds: float

    @cached_property
    def effect(self) -> Effect:
        """What became of the script as a whole.

        A rank that ends with an error of its own makes it *fail*; else a rank that waited in vain
        (gloo says "timed out" or, when the peer has gone, "connection closed") makes it *hang*.
        Finished, it shows *wrong data* when ranks paired calls that do not belong together or
        printed different values for one name.
        """
        failed = [rank for rank in self.ranks if rank.exit != 0]
        if any(not rank.stuck for rank in failed):
            return "fail"
        if failed:
            return "hang"
        if self.mismatch is not None or self.difference is not None:
            return "wrong data"
        return "finishes"

    @cached_property
    def mismatch(self) -> str | None:
        """The first place where two ranks paired collectives that differ, or one has none left."""
        for a, b, left, right in self._meetings():
            for first, second in zip(left, right, strict=False):
                if first.key != second.key:
                    return f"rank {a}: {first}; rank {b}: {second}"
            if len(left) != len(right):
                return f"rank {a} issued {len(left)} collectives, rank {b} {len(right)}"
        return None

    @cached_property
    def crossed(self) -> bool:
        """Were calls at different lines of the script paired with each other?"""
        return any(
            [each.line for each in left] != [each.line for each in right]
            for _, _, left, right in self._meetings()
        )

    def _meetings(self) -> Iterator[tuple[int, int, list[Event], list[Event]]]:
        """What two ranks have issued on a group that they share: groups do not wait for others."""
        for (a, one), (b, two) in combinations(enumerate(self.ranks), 2):
            shared = [event for event in one.events if b in event.group]
            others = [event for event in two.events if a in event.group]
            for name in dict.fromkeys(event.name for event in (*shared, *others)):
                left = [event for event in shared if event.name == name]
                yield a, b, left, [event for event in others if event.name == name]

    @cached_property
    def difference(self) -> str | None:
        """A value that two ranks printed under one name and that is not the same."""
        for (a, one), (b, two) in combinations(enumerate(self.ranks), 2):
            for name in one.values.keys() & two.values.keys():
                if one.values[name] != two.values[name]:
                    return f"{name}: rank {a} {one.values[name]}, rank {b} {two.values[name]}"
        return None

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.effect} after {self.seconds:.2f} s"
        for why in (self.mismatch, self.difference):
            if why is not None:
                yield f"  {why}"
        for number, rank in enumerate(self.ranks):
            state = "was killed" if rank.exit is None else f"exits with {rank.exit}"
            yield f"rank {number} {state}{' inside a collective' if rank.stuck else ''}"
            for event in rank.events:
                done = "" if event.done else " (never returned)"
                yield f"  line {event.line}: {event.op} {event.root} {event.reduce}{done}".rstrip()
            for text in (rank.out, rank.err):
                yield from (f"  | {line}" for line in text.rstrip().splitlines()[-12:])


def missing(needs: tuple[str, ...] = ()) -> str | None:
    """Why scripts cannot be run here, or None if they can."""
    for package in ("torch", *needs):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return None


class Cluster:
    """Runs scripts; use it as a context manager."""

    def __init__(self) -> None:
        self._server: _Zygote | None = None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()

    def submit(
        self,
        source: str | None = None,
        *,
        script: Path | None = None,
        arguments: tuple[str, ...] = (),
        ranks: int = 2,
        needs: tuple[str, ...] = (),
        name: str = "script",
        limit: float = LIMIT,
    ) -> Future[Outcome]:
        """Queue a script (its source, or a file) and return at once."""
        if self._server is None:
            self._server = _Zygote()
        request = {
            "source": source,
            "script": None if script is None else str(script),
            "arguments": list(arguments),
            "ranks": ranks,
            "needs": list(needs),
            "name": name,
            "limit": limit * (2 if "lightning" in needs else 1),
        }
        return self._server.submit(request)

    def run(
        self,
        source: str | None = None,
        *,
        script: Path | None = None,
        arguments: tuple[str, ...] = (),
        ranks: int = 2,
        needs: tuple[str, ...] = (),
        name: str = "script",
        limit: float = LIMIT,
    ) -> Outcome:
        """Run a script and wait for its end."""
        job = self.submit(
            source,
            script=script,
            arguments=arguments,
            ranks=ranks,
            needs=needs,
            name=name,
            limit=limit,
        )
        return job.result()


class _Zygote:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "distlint.harness.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parents[2],  # no module of the user's hides ours
        )
        self._jobs: dict[int, Future[Outcome]] = {}
        self._lock = threading.Lock()
        self._count = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def submit(self, request: dict[str, Any]) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        with self._lock:
            self._count += 1
            request["number"] = self._count
            self._jobs[self._count] = future
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return future

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._reader.join(timeout=10)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            with self._lock:
                future = self._jobs.pop(answer["number"])
            try:
                future.set_result(_outcome(answer))
            except Exception as error:
                future.set_exception(error)
        for future in self._jobs.values():
            future.set_exception(RuntimeError("the process that forks the ranks has ended"))


def _outcome(answer: dict[str, Any]) -> Outcome:
    ranks = tuple(
        RankOutcome(r["exit"], r["out"], r["err"], _events(r["log"])) for r in answer["ranks"]
    )
    return Outcome(ranks, answer["seconds"])


def _events(log: str) -> tuple[Event, ...]:
    records = [json.loads(line) for line in log.splitlines()]
    events = []
    for record, following in zip(records, [*records[1:], {}], strict=False):
        if "enter" in record:
            entry = record["enter"]
            entry["group"] = tuple(entry["group"])
            events.append(Event(**entry, done="leave" in following))
    return tuple(events)
