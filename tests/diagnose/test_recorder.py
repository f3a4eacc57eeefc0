"""Flight-recorder dumps: plain data only, and the point where ranks part."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from distlint.diagnose import recorder
from distlint.diagnose.run import Answer
from tests.diagnose.conftest import Logs


def entry(
    number: int, op: str, line: int, size: int = 4, state: str = "completed"
) -> dict[str, Any]:
    return {
        "frames": [
            {"name": op, "filename": "/x/site-packages/torch/distributed/c10d.py", "line": 3252},
            {"name": "train", "filename": "/job/train.py", "line": line},
            {"name": "<module>", "filename": "/job/train.py", "line": 90},
        ],
        "process_group": ["0", "default_pg"],
        "collective_seq_id": number,
        "profiling_name": f"nccl:{op}",
        "input_sizes": [[size]],
        "input_dtypes": ["Float"],
        "state": state,
        "is_p2p": False,
    }


def dump(entries: list[dict[str, Any]], world: int = 3) -> dict[str, Any]:
    return {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str([*range(world)])}},
        "entries": entries,
    }


def steps(count: int) -> list[dict[str, Any]]:
    return [entry(number, "all_reduce", 31) for number in range(1, count + 1)]


def compared(logs: Logs, *dumps: dict[str, Any], as_json: bool = False) -> Answer:
    for rank, content in enumerate(dumps):
        name = f"traces/nccl_trace_rank_{rank}" + (".json" if as_json else "")
        logs.write(name, json.dumps(content) if as_json else pickle.dumps(content, 2))
    return logs.answer(logs.folder / "traces")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_rank_that_did_not_issue_it(as_json: bool, logs: Logs) -> None:
    waiting = [*steps(5), entry(6, "all_gather", 44, state="started")]
    answer = compared(logs, dump(waiting), dump(steps(5)), dump(waiting), as_json=as_json)
    (group,) = answer.groups
    assert group.culprits == (1,)
    assert group.number == 6
    assert group.verdict == "rank 1 did not issue collective 6, all_gather [4]"
    rows = {row.rank: row for row in group.rows}
    assert rows[1].place is not None
    assert (rows[1].place.file, rows[1].place.line) == ("/job/train.py", 31)
    assert rows[0].place is not None
    assert rows[0].place.line == 44
    cause = answer.diagnosis.cause
    assert cause is not None
    assert cause.ranks == (1,)


@pytest.mark.parametrize("other", [("broadcast", 4), ("all_reduce", 8)], ids=["operation", "size"])
def test_a_rank_that_issued_another(other: tuple[str, int], logs: Logs) -> None:
    usual = [*steps(2), entry(3, "all_reduce", 31)]
    odd = [*steps(2), entry(3, other[0], 70, other[1])]
    answer = compared(logs, dump(usual), dump(usual), dump(odd))
    (group,) = answer.groups
    assert group.culprits == (2,)
    assert group.number == 3
    cause = answer.diagnosis.cause
    assert cause is not None
    assert ("DST106" in cause.rules) == (other[0] == "all_reduce")


def test_sizes_may_differ_where_the_operation_allows_it(logs: Logs) -> None:
    dumps = [dump([entry(1, "all_to_all", 5, size)], 2) for size in (3, 9)]
    (group,) = compared(logs, *dumps).groups
    assert group.culprits == ()


def test_ring_buffers_that_have_lost_their_beginning(logs: Logs) -> None:
    (group,) = compared(logs, dump(steps(9)[4:], 2), dump(steps(9), 2)).groups
    assert group.culprits == ()
    assert "up to number 9" in group.verdict


def test_ranks_without_a_dump(logs: Logs) -> None:
    (group,) = compared(logs, dump(steps(2), 4), dump(steps(2), 4)).groups
    assert group.without == (2, 3)


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch /tmp/distlint-was-here",)


def test_a_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nccl_trace_rank_0"
    path.write_bytes(pickle.dumps({"version": "2.10", "entries": [Evil()], "pg_config": {}}))
    with pytest.raises(ValueError, match=r"refused: it references posix\.system"):
        recorder.load(path)
    assert not Path("/tmp/distlint-was-here").exists()


def test_damaged_dumps_are_noted(logs: Logs) -> None:
    whole = pickle.dumps(dump(steps(2)), 2)
    logs.write("traces/nccl_trace_rank_0", whole[:-20])
    logs.write("traces/nccl_trace_rank_1", pickle.dumps({"version": 1, "entries": 7}))
    answer = logs.answer(logs.folder / "traces")
    assert answer.groups == ()
    assert len(answer.diagnosis.notes) == 2


def test_dumps_that_torch_wrote(logs: Logs) -> None:
    """Written by torch 2.13.0 under gloo: rank 0 reduces where rank 1 broadcasts."""
    folder = Path(__file__).parent / "recorded" / "flight_recorder"
    (group,) = logs.answer(folder).groups
    assert group.verdict == (
        "ranks diverge at collective 3: rank 0 issued all_reduce [3], rank 1 issued broadcast [3]"
    )
    assert [row.place.line for row in group.rows if row.place] == [9, 11]


def test_numbers_that_no_rank_has(logs: Logs) -> None:
    """Sends and receives take numbers, too, and are left out."""
    gap = [*steps(2), entry(5, "all_reduce", 31)]
    (group,) = compared(logs, dump(gap), dump(gap), dump(gap)).groups
    assert group.culprits == ()
    assert group.number == 5


def test_a_number_that_cannot_be(logs: Logs) -> None:
    far = [*steps(2), entry(10**15, "all_reduce", 31)]
    (group,) = compared(logs, dump(far), dump(steps(2)), dump(steps(2))).groups
    assert group.culprits == (1, 2)
