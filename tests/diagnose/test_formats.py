"""Whatever writes the logs: prefixes, timestamps, encodings, damage."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import threading
from pathlib import Path

import pytest

from distlint.diagnose.lines import parsed, ranks_text
from distlint.diagnose.run import diagnose
from tests.diagnose.conftest import Logs

TRACE = """\
Traceback (most recent call last):
  File "/job/train.py", line 31, in <module>
    main()
  File "/job/train.py", line 12, in main
    batch = data["labels"]
            ~~~~^^^^^^^^^^
KeyError: 'labels'
"""


def watchdog(rank: int, seq: int = 88, op: str = "ALLREDUCE", count: int = 4) -> str:
    return (
        f"Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, "
        f"NumelIn={count}, NumelOut={count}, Timeout(ms)=600000) ran for {600_000 + rank} "
        "milliseconds before timing out."
    )


@pytest.mark.parametrize(
    "prefix",
    [
        "[rank3]: {}",
        "[rank3]:{}",
        "[default3]:{}",
        "[default3]:[rank3]: {}",
        "3: {}",
        "3: [rank3]: {}",
        "[1,3]<stderr>:{}",
        "2026-11-22 04:00:01,123 [rank3]: {}",
        "2026-11-22T04:00:01.123456Z stderr F [rank3]: {}",
        "[2026-11-22 04:00:01,123] [INFO] [Rank 3] {}",
        "\x1b[36m[rank3]:\x1b[0m {}",
        "[RANK 3] {}",
        "trainer-1  | [rank3]: {}",
    ],
)
def test_prefixes(prefix: str, logs: Logs) -> None:
    text = "\n".join(prefix.format(line) for line in TRACE.splitlines())
    cause = logs.read(text).cause
    assert cause is not None
    assert cause.ranks == (3,)
    assert cause.title == "rank 3 raised KeyError"
    assert cause.place is not None
    assert (cause.place.line, cause.place.code) == (12, 'batch = data["labels"]')


def test_the_watchdog_of_a_group_speaks_with_its_own_rank() -> None:
    text = b"[rank9]:[E909 09:55:46.996672294 ProcessGroupNCCL.cpp:1709] [PG 2 (tp) Rank 1] Timeout"
    line = parsed(text)
    assert (line.rank, line.group, line.text) == (9, "2 (tp)", "Timeout")
    assert line.time == (9, 9, 9, 55, 46.996672294)


def test_lines_of_many_ranks_interleaved(logs: Logs) -> None:
    lines = TRACE.splitlines()
    mixed = [f"[rank{rank}]: {line}" for line in lines for rank in (5, 2, 7)]
    cause = logs.read("\n".join(mixed)).cause
    assert cause is not None
    assert cause.ranks == (2, 5, 7)
    assert cause.place is not None
    assert cause.place.line == 12


def test_a_traceback_of_thousands_of_ranks_at_once(logs: Logs) -> None:
    lines = TRACE.splitlines()
    mixed = [f"[rank{rank}]: {line}" for line in lines for rank in range(4000)]
    cause = logs.read("\n".join(mixed)).cause
    assert cause is not None
    assert cause.title == "all ranks raised KeyError"


def test_a_traceback_without_end_is_given_up(logs: Logs) -> None:
    text = "[rank0]: " + TRACE[:120] + "[rank1]: step\n" * 60_000
    cause = logs.read(text).cause
    assert cause is not None
    assert cause.quotes[0].text == "(truncated traceback)"


def test_two_processes_without_prefixes(logs: Logs) -> None:
    header, *rest = TRACE.splitlines()
    found = logs.read("\n".join([header, header, *rest, *rest]))
    assert found.cause is not None
    assert found.cause.id == "KeyError"
    assert not found.also


def test_progress_bars_overwrite_themselves(logs: Logs) -> None:
    bar = "\r".join(f"[rank1]: {n:3}%|#####     | {n}/100" for n in range(100))
    text = f"{bar}\r[rank0]: {watchdog(0)}\r\n"
    found = logs.read(text)
    assert found.cause is not None
    assert found.cause.ranks == (1,)
    assert found.doing[0].last is not None
    assert "99/100" in found.doing[0].last.text


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed(pack: object, logs: Logs) -> None:
    assert callable(pack)
    found = logs.read(pack(TRACE.encode()))
    assert found.cause is not None
    assert found.cause.id == "KeyError"


def test_gzip_that_breaks_off(logs: Logs) -> None:
    import random

    noise = "".join(f"step {random.Random(n).random()}\n" for n in range(40_000))
    data = gzip.compress((TRACE + noise).encode())
    found = logs.read(data[: len(data) // 2])
    assert found.cause is not None
    assert any("file is truncated" in note for note in found.notes)


def test_utf_16(logs: Logs) -> None:
    found = logs.read(TRACE.encode("utf-16"))
    assert found.cause is not None
    assert found.cause.id == "KeyError"


def test_mixed_encodings(logs: Logs) -> None:
    text = "[rank1]: entraînement\n".encode("latin-1") + TRACE.replace("'labels'", "'é'").encode()
    found = logs.read(text)
    assert found.cause is not None
    assert "é" in found.cause.quotes[0].text


def test_binary_data(logs: Logs) -> None:
    found = logs.read(bytes(range(256)) * 200 + b"\n" + TRACE.encode())
    assert found.cause is not None
    assert any("NUL bytes" in note for note in found.notes)
    found = logs.read(b"\0" * 5000)
    assert found.cause is None
    assert any("mostly binary" in note for note in found.notes)


def test_a_line_without_end(logs: Logs) -> None:
    found = logs.read(b"x" * 5_000_000 + b"\n" + TRACE.encode())
    assert found.cause is not None
    assert any("more than 1 MB" in note for note in found.notes)


def test_a_traceback_that_breaks_off(logs: Logs) -> None:
    found = logs.read(TRACE[:120])
    assert found.cause is not None
    assert found.cause.place is not None


def test_an_empty_file(logs: Logs) -> None:
    found = logs.read("")
    assert found.level == ""
    assert any("empty" in note for note in found.notes)


def test_a_message_across_the_border_of_two_chunks(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distlint.diagnose import sources

    text = "".join(f"[rank{rank}]: {line}\n" for line in TRACE.splitlines() for rank in (0, 1))
    expected = logs.read(text)
    for size in (7, 64, 100, 333):
        monkeypatch.setattr(sources, "CHUNK", size)
        found = logs.read(text)
        assert (found.cause, found.lines) == (expected.cause, expected.lines)
        assert found.cause is not None
        assert found.cause.quotes[0].line == 13


def test_line_numbers(logs: Logs) -> None:
    text = "step\n" * 1000 + f"[rank0]: {watchdog(0)}\n[rank1]: hello\n"
    cause = logs.read(text).cause
    assert cause is not None
    assert cause.quotes[0].line == 1001


def test_torchrun_folder(logs: Logs) -> None:
    """``--log-dir`` has a folder for each local rank; the lines tell the global one."""
    for node, start in (("a", 0), ("b", 2)):
        for local in (0, 1):
            folder = f"logs/{node}_none_x/attempt_0/{local}"
            rank = start + local
            logs.write(f"{folder}/stdout.log", f"rank {rank} is at step 7\n")
            text = f"[rank{rank}]: {watchdog(rank)}\n" if rank != 2 else "[rank2]: leaving\n"
            logs.write(f"{folder}/stderr.log", text)
    cause = logs.answer(logs.folder / "logs").diagnosis.cause
    assert cause is not None
    assert cause.ranks == (2,)


def test_the_error_file_of_torchelastic(logs: Logs) -> None:
    content = {
        "message": {
            "message": "KeyError: 'labels'",
            "extraInfo": {"py_callstack": TRACE, "timestamp": "1763789000"},
        }
    }
    path = logs.write("run/attempt_0/1/error.json", json.dumps(content))
    cause = logs.answer(path).diagnosis.cause
    assert cause is not None
    assert (cause.id, cause.ranks) == ("KeyError", (1,))


def test_a_rank_whose_file_is_empty_is_missing(logs: Logs) -> None:
    logs.write("run/attempt_0/0/stderr.log", f"[rank0]: {watchdog(0)}\n")
    logs.write("run/attempt_0/1/stderr.log", "")
    found = logs.answer(logs.folder / "run").diagnosis
    assert found.cause is not None
    assert found.cause.ranks == (1,)
    assert found.notes == ()


def test_a_log_comes_before_the_error_file(logs: Logs) -> None:
    content = {"message": {"message": "x", "extraInfo": {"py_callstack": TRACE}}}
    logs.write("run/attempt_0/1/error.json", json.dumps(content))
    logs.write("run/attempt_0/1/stderr.log", TRACE)
    cause = logs.answer(logs.folder / "run").diagnosis.cause
    assert cause is not None
    assert cause.quotes[0].source.endswith("stderr.log")


@pytest.mark.parametrize(
    "names", [("rank_0.log", "rank_1.log"), ("job-88-0.out", "job-88-1.out"), ("r0.txt", "r1.txt")]
)
def test_the_names_of_files_tell_ranks(names: tuple[str, str], logs: Logs) -> None:
    paths = [logs.write(names[0], watchdog(0)), logs.write(names[1], "step 4: evaluating\n")]
    found = logs.answer(*paths).diagnosis
    assert found.cause is not None
    assert found.cause.ranks == (1,)
    assert found.doing[0].last is not None
    assert found.doing[0].last.text == "step 4: evaluating"


def test_files_that_are_no_logs_are_passed_over(logs: Logs) -> None:
    logs.write("run/model.pt", b"\x80\x02junk")
    logs.write("run/train.py", TRACE)
    logs.write("run/out.log", "fine\n")
    found = logs.answer(logs.folder / "run").diagnosis
    assert found.cause is None
    assert [Path(name).name for name in found.names] == ["out.log"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(TRACE.encode())))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", stream)
    found = diagnose([Path("-")]).diagnosis
    assert found.cause is not None
    assert found.cause.quotes[0].source == "standard input"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """As of ``distlint diagnose <(ssh node cat job.log)``."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TRACE))
    writer.start()

    class Told:
        def start(self, total: int) -> None: ...
        def advance(self, count: int) -> None: ...

    found = diagnose([pipe], progress=Told()).diagnosis
    writer.join(10)
    assert found.cause is not None
    assert found.cause.id == "KeyError"


def test_ranks_in_words() -> None:
    assert ranks_text([3]) == "rank 3"
    assert ranks_text([0, 1, 2, 5]) == "ranks 0-2, 5"
    assert ranks_text(list(range(0, 60, 2))).endswith("and 18 more")
