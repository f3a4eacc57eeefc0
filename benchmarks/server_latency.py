"""How long an editor waits: from an edit to the diagnostics of the text that it makes.

Starts ``distlint server``, opens a file and types at its end, one edit after another, each after
all has been said about the one before it. What can be said at once comes first, where a whole
analysis takes long. Also measures how long the server takes to answer while it analyses: a hover
in another open file, and one in the file itself.

    python -m benchmarks.server_latency FILE... [--edits 9]
    python -m benchmarks.server_latency --lines 20000 [--edits 3]

With ``--lines`` the files are made: training functions, one function, one class, one script.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from distlint.server.hover import UNFINISHED
from tests.large_files import SHAPES
from tests.server.client import Editor

PATIENCE = 0.2
"""Of the server by default."""
BETWEEN = 0.1
"""Seconds between two edits of somebody who types fast."""

OTHER = """\
import torch.distributed as dist

if dist.get_rank() == 0:
    dist.barrier()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--lines", type=int, help="make files of so many lines")
    parser.add_argument("--edits", type=int, default=9, help="edits to measure (default: 9)")
    chosen = parser.parse_args()
    for file in chosen.files:
        report(file.absolute(), chosen.edits)
    if chosen.lines:
        with tempfile.TemporaryDirectory() as directory:
            for shape, make in SHAPES.items():
                file = Path(directory, f"{shape.replace(' ', '_')}.py").resolve()
                file.write_text(make(chosen.lines), "utf-8")
                report(file, chosen.edits)


def report(file: Path, edits: int) -> None:
    text = file.read_text("utf-8")
    other = file.with_name("distlint_other.py")
    with Editor(file.parent, options={"patience": PATIENCE}) as editor:
        editor.open(other, OTHER)
        editor.hover(other, 2, 0)
        start = time.perf_counter()
        editor.open(file)
        editor.diagnostics(file)
        settle(editor, file)
        opened = time.perf_counter() - start
        waits = [edit(editor, file, f"{text}\nvalue = {n}\n") for n in range(edits)]
        first, whole = ([wait[part] for wait in waits] for part in (0, 1))
        pauses = [pause(editor, file, other, f"{text}\nother = {n}\n") for n in range(edits)]
        typed = burst(editor, file, text)
    rows = len(text.splitlines())
    print(f"{file.name}, {rows:,} lines: opened in {_ms(opened)}")
    print(f"  edit to diagnostics: median {_ms(statistics.median(first))} of {edits}", end="")
    print(f" ({_ms(min(first))} to {_ms(max(first))})")
    print(f"  until the whole analysis has ended: median {_ms(statistics.median(whole))}")
    print(f"  ten edits, one every {_ms(BETWEEN)}: {_ms(typed)} after the last")
    elsewhere, here = ([wait[part] for wait in pauses] for part in (0, 1))
    for what, found in (("in another file", elsewhere), ("in this file", here)):
        print(f"  a hover {what} meanwhile: median {_ms(statistics.median(found))}", end="")
        print(f", at most {_ms(max(found))}")


def edit(editor: Editor, file: Path, text: str) -> tuple[float, float]:
    """Seconds from an edit to its first diagnostics, and to the end of the analysis."""
    start = time.perf_counter()
    editor.change(file, text)
    editor.diagnostics(file)
    first = time.perf_counter() - start
    settle(editor, file)
    return first, time.perf_counter() - start


def settle(editor: Editor, file: Path) -> None:
    """Wait for the end of an analysis."""
    while UNFINISHED in editor.hover(file, 0, 0):
        time.sleep(0.02)


def burst(editor: Editor, file: Path, text: str) -> float:
    """Seconds from the last of many quick edits to its diagnostics."""
    for n in range(10):
        time.sleep(BETWEEN)
        editor.change(file, f"{text}\ntyped = {n}\n")
    start = time.perf_counter()
    editor.diagnostics(file)
    return time.perf_counter() - start


def pause(editor: Editor, file: Path, other: Path, text: str) -> tuple[float, float]:
    """Seconds until the server answers about another file, and about this one, while it analyses
    this one: the longest of several for the other.
    """
    editor.change(file, text)
    elsewhere = 0.0
    for _ in range(5):
        time.sleep(0.1)
        start = time.perf_counter()
        editor.hover(other, 2, 0)
        elsewhere = max(elsewhere, time.perf_counter() - start)
    start = time.perf_counter()
    editor.hover(file, 0, 0)
    here = time.perf_counter() - start
    editor.diagnostics(file)
    settle(editor, file)
    return elsewhere, here


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


if __name__ == "__main__":
    main()
