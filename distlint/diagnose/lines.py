"""A line of a log: who wrote it and when, and what it says without all that.

Understood in front of a line, in any order: torch's ``[rank3]:``, torchrun's ``[default3]:`` (a
local rank), Slurm's ``3: ``, Open MPI's ``[1,3]<stderr>:``, Ray's ``(name pid=7)``, ``[Rank 3]``,
``[PG ID 0 PG GUID 0(default_pg) Rank 3]`` of process groups, NCCL's ``host:pid:tid [gpu]``,
timestamps as ISO 8601, in brackets, of Kubernetes and of glog, and ANSI colours anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

_RANK = re.compile(r"\[(?:rank|RANK|Rank) ?(\d{1,7})\]:? ?")
_TEE = re.compile(r"\[([A-Za-z_][A-Za-z_.-]*)(\d{1,7})\]:")
_SLURM = re.compile(r"(\d{1,7}): ")
_MPI = re.compile(r"\[\d+,(\d{1,7})\]<std(?:out|err|diag)>:\s?")
_RAY = re.compile(r"\(([\w.]+ pid=\d+(?:, ip=[\d.]+)?)\) ")
_COMPOSE = re.compile(r"([\w.-]+)\s+\| ")
_GROUP = re.compile(r"\[PG (?:ID )?(\d+)(?: PG GUID)? ?([^\]]{0,120}?) ?Rank (\d{1,7})\] ?")
_NCCL = re.compile(r"([\w.-]+):(\d+):(\d+) \[(\d+)\] (?=NCCL|[\w/.]+:\d+ NCCL)")
_ISO = re.compile(
    r"\[?\d{4}-(\d\d)-(\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:Z|[+-]\d\d:?\d\d)?\]?:? ?"
)
_GLOG = re.compile(
    r"\[?[EWIFV](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9}) (?:\d+ )?[^\s\]]+:\d+\] ?"
)
_K8S = re.compile(r"std(?:out|err) [FP] ")
_LEVEL = re.compile(r"\[(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\] (?:\[[\w.]+:\d+:\w+\] )?")

Time = tuple[int, int, int, int, float]
"""Month, day, hour, minute, second: comparable in a job of less than a year."""


@dataclass(frozen=True, slots=True)
class Line:
    """``rank`` is global, ``local`` that of the node; ``group`` the process group that speaks."""

    text: str
    rank: int | None = None
    local: int | None = None
    group: str = ""
    writer: str = ""
    time: Time | None = None


def parsed(raw: bytes) -> Line:
    """Take a line apart; bytes that are not UTF-8 come out as ``\\ufffd``."""
    if b"\x1b" in raw:
        raw = ANSI.sub(b"", raw)
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    rank = local = None
    group = writer = ""
    time: Time | None = None
    position, first = 0, True
    while True:
        if (first and (m := _SLURM.match(text))) or (m := _RANK.match(text, position)):
            rank = int(m[1])
        elif m := _GROUP.match(text, position):
            group = f"{m[1]} {m[2]}".rstrip()
            if m[1] == "0":
                rank = int(m[3]) if rank is None else rank
        elif m := _TEE.match(text, position):
            local = int(m[2])
        elif m := _MPI.match(text, position):
            rank = int(m[1])
        elif (m := _ISO.match(text, position)) or (m := _GLOG.match(text, position)):
            time = time or _time(m)
        elif m := _NCCL.match(text, position):
            writer = f"{m[1]}:{m[2]}"
        elif (m := _RAY.match(text, position)) or (first and (m := _COMPOSE.match(text))):
            writer = m[1]
        elif not (m := _K8S.match(text, position) or _LEVEL.match(text, position)):
            break
        position, first = m.end(), False
    return Line(text[position:], rank, local, group, writer, time)


def _time(match: re.Match[str]) -> Time:
    month, day, hour, minute, second, part = match.groups()
    return int(month), int(day), int(hour), int(minute), float(f"{second}.{part or 0}")


def ranks_text(ranks: Iterable[int]) -> str:
    """``rank 3``, ``ranks 0-2, 4``."""
    numbers = sorted(set(ranks))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    shown = ", ".join(parts[:12]) + (f" and {len(parts) - 12} more" if len(parts) > 12 else "")
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {shown}"
