"""A file whose analysis takes long delays nothing but what is said about itself."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.large_files import SHAPES
from tests.server.client import PATIENCE, Editor
from tests.server.test_server import BUGGY, CLEAN, COLUMN, ROW, codes

SLOW = (sys.executable, Path(__file__).with_name("slow.py"))
COMMENTS = "# a long comment\n" * 100
LARGE = BUGGY + COMMENTS
UNFINISHED = "still analysing"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BUGGY)
    (tmp_path / "large.py").write_text(LARGE)
    return tmp_path


def opened(folder: Path, *options: str) -> Editor:
    """An editor that shows ``large.py``, whose analysis has begun, and lasts."""
    editor = Editor(folder, options={"patience": 0.2}, program=(*SLOW, *options))
    editor.open(folder / "large.py")
    until(lambda: (folder / "process").exists() and (folder / "process").read_text() != "")
    return editor


def finish(folder: Path) -> None:
    (folder / "finish").touch()


def process(folder: Path) -> int:
    return int((folder / "process").read_text())


def until(met: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < limit, "in vain"
        time.sleep(0.02)


def is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_is_asked_about_other_files_is_answered_meanwhile(folder: Path) -> None:
    script, large = folder / "train.py", folder / "large.py"
    with opened(folder) as editor:
        editor.open(script)
        found = editor.diagnostics(script)
        assert codes(found) == ["DST101"]
        assert "barrier" in editor.hover(script, ROW, COLUMN)
        assert editor.actions(script, found)
        editor.change(script, CLEAN)
        assert editor.diagnostics(script) == []

        assert UNFINISHED in editor.hover(large, ROW, COLUMN)
        assert editor.actions(large, []) == []
        finish(folder)
        found = editor.diagnostics(large)
        assert codes(found) == ["DST101"]
        until(lambda: UNFINISHED not in editor.hover(large, ROW, COLUMN))
        assert "rank 0: barrier" in editor.hover(large, ROW, COLUMN)
        assert editor.actions(large, found)


def test_the_newest_text_of_a_large_file_is_analysed(folder: Path) -> None:
    large = folder / "large.py"
    with opened(folder) as editor:
        for version in range(2, 12):
            editor.change(large, f"{LARGE}value = {version}\n")
        editor.change(large, LARGE.replace(BUGGY, CLEAN))
        finish(folder)
        told = editor.published.get(timeout=PATIENCE)
        assert (told["version"], told["diagnostics"]) == (12, [])


@pytest.mark.parametrize("options", [(), ("--marked",)], ids=["", "marked by another file"])
def test_an_edit_of_an_imported_file_reaches_the_analysis_of_a_large_one(
    folder: Path, options: tuple[str, ...]
) -> None:
    helper, large = folder / "helper.py", folder / "large.py"
    helper.write_text("def wait(dist):\n    pass\n")
    large.write_text(
        "import torch.distributed as dist\nfrom helper import wait\n"
        'dist.init_process_group("gloo")\nif dist.get_rank() == 0:\n    wait(dist)\n' + COMMENTS
    )
    finish(folder)
    with opened(folder, *options) as editor:
        assert editor.diagnostics(large) == []
        editor.open(helper, "def wait(dist):\n    dist.barrier()\n")
        until(lambda: codes(editor.diagnostics(large)) == ["DST101"])  # perhaps after a first look


def test_a_question_about_a_large_file_can_be_taken_back(folder: Path) -> None:
    document = {"uri": (folder / "large.py").as_uri()}
    with opened(folder) as editor:
        asked = editor.ask("textDocument/diagnostic", textDocument=document)
        editor.notify("$/cancelRequest", id=asked)
        assert editor.refusal(asked)["code"] == -32800
        finish(folder)


@pytest.mark.parametrize("properly", [True, False])
def test_the_server_ends_at_once_and_takes_the_process_along(folder: Path, properly: bool) -> None:
    editor = opened(folder)
    started = time.monotonic()
    if properly:
        editor.request("shutdown")
        editor.notify("exit")
    else:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
    assert editor.process.wait(PATIENCE) == 0
    assert time.monotonic() - started < 2
    until(lambda: not is_there(process(folder)))


def test_memory_is_returned_when_a_large_file_is_closed(folder: Path) -> None:
    with opened(folder) as editor:
        document = {"uri": (folder / "large.py").as_uri()}
        editor.notify("textDocument/didClose", textDocument=document)
        until(lambda: not is_there(process(folder)))
        (folder / "process").unlink()
        finish(folder)
        editor.open(folder / "large.py")
        assert codes(editor.diagnostics(folder / "large.py")) == ["DST101"]


def test_a_process_that_is_killed_is_reported_and_started_again(folder: Path) -> None:
    large = folder / "large.py"
    with opened(folder) as editor:
        os.kill(process(folder), signal.SIGTERM)
        until(lambda: any("internal error" in each for each in editor.messages))
        finish(folder)
        editor.change(large, LARGE + "\n")
        assert codes(editor.diagnostics(large)) == ["DST101"]
        assert "rank 0: barrier" in editor.hover(large, ROW, COLUMN)


def test_a_small_file_that_takes_long_is_moved_to_the_process(folder: Path) -> None:
    script = folder / "train.py"
    finish(folder)
    with opened(folder, "--limit") as editor:
        editor.open(script)
        found = editor.diagnostics(script)
        assert codes(found) == ["DST101"]
        assert "rank 0: barrier" in editor.hover(script, ROW, COLUMN)
        assert editor.actions(script, found)


@pytest.mark.campaign
@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_of_20000_lines(tmp_path: Path, shape: str) -> None:
    large, script = tmp_path / "large.py", tmp_path / "train.py"
    text = SHAPES[shape](20_000)
    large.write_text(text)
    script.write_text(BUGGY)
    waits: dict[str, list[float]] = {"other": [], "large": []}

    def timed(of: str, ask: Callable[[], Any]) -> Any:
        started = time.monotonic()
        answer = ask()
        waits[of].append(time.monotonic() - started)
        return answer

    with Editor(tmp_path, options={"patience": 0.2}) as editor:
        editor.open(script)
        found = editor.diagnostics(script)
        editor.open(large)
        while UNFINISHED in timed("large", lambda: editor.hover(large, 12, 4)):
            assert timed("other", lambda: editor.hover(script, ROW, COLUMN))
            assert timed("other", lambda: editor.actions(script, found))
            timed("large", lambda: editor.actions(large, []))
            time.sleep(0.2)
        assert len(waits["large"]) > 2
        assert sorted(waits["other"])[len(waits["other"]) // 2] < 0.2
        assert max(waits["large"]) < 2

        sizes = []
        for number in range(50):
            editor.change(large, f"{text}\nvalue = {number}\n")
            time.sleep(0.5 if number % 10 else 5)
            sizes.append(memory(editor.process.pid))
        assert max(sizes[25:]) < 1.3 * max(sizes[:25]) + 20
        started = time.monotonic()
    assert time.monotonic() - started < 2


def memory(number: int) -> float:
    """Megabytes that a process and its children use."""
    children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    pages = sum(
        int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in (number, *children)
    )
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
