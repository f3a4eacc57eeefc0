"""No text is too strange: whatever is read, an answer comes, and the same one for any chunks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distlint.diagnose import sources
from distlint.diagnose.report import as_json
from distlint.diagnose.run import diagnose
from tests.diagnose.test_signatures import EXCERPTS

PREFIXES = (
    "",
    "[rank0]: ",
    "[rank1]:",
    "[default2]:",
    "3: ",
    "2026-11-22 04:00:01,5 [rank1]: ",
    "\x1b[1m",
)
PIECES = [line for text in EXCERPTS.values() for line in text.strip().splitlines()]
PIECES += [
    "Traceback (most recent call last):",
    '  File "/job/a.py", line 3, in f',
    "    x = 1",
    "KeyError: 'x'",
    "During handling of the above exception, another exception occurred:",
    "  rank      : 1 (local_rank: 1)",
    "  exitcode  : -9 (pid: 7)",
    "srun: error: n1: tasks 0-3,7: Killed",
    "last enqueued NCCL work: 7, last completed NCCL work: 6.",
    "",
]
line = st.tuples(st.sampled_from(PREFIXES), st.sampled_from(PIECES) | st.text(max_size=40)).map(
    "".join
)


def answer(data: bytes) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "job.log")
        path.write_bytes(data)
        found: dict[str, object] = json.loads(as_json(diagnose([path])))
        del found["read"]
        text = json.dumps(found).replace(json.dumps(str(path))[1:-1], "job.log")
        plain: dict[str, object] = json.loads(text)
        return plain


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(line, max_size=25), st.integers(1, 200))
@pytest.mark.campaign
def test_lines_in_any_order(lines: list[str], size: int) -> None:
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    expected = answer(data)
    before = sources.CHUNK
    try:
        sources.CHUNK = size
        if b"\r" not in data:
            assert answer(data) == expected
    finally:
        sources.CHUNK = before


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=400))
def test_bytes(data: bytes) -> None:
    answer(data)
    answer(b"\x1f\x8b" + data)
    answer(b"\x80\x02" + data + b"version")
    answer(b'{"entries":' + data)
