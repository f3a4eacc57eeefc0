"""How long an editor waits: from an edit to the diagnostics of the text that it makes.

Starts ``distlint server``, opens a file and types at its end, one edit after another, each after
all has been said about the one before it. What can be said at once comes first, where a whole
analysis takes long. Also measures how long the server takes to answer something else while it
analyses.

    python -m benchmarks.server_latency FILE... [--edits 9]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from tests.server.client import Editor

PATIENCE = 0.2
"""Of the server by default."""
BETWEEN = 0.1
"""Seconds between two edits of somebody who types fast."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--edits", type=int, default=9, help="edits to measure (default: 9)")
    chosen = parser.parse_args()
    for file in chosen.files:
        report(file.absolute(), chosen.edits)


def report(file: Path, edits: int) -> None:
    text = file.read_text("utf-8")
    with Editor(file.parent, options={"patience": PATIENCE}) as editor:
        start = time.perf_counter()
        editor.open(file)
        editor.diagnostics(file)
        opened = time.perf_counter() - start
        waits = [edit(editor, file, f"{text}\nvalue = {n}\n") for n in range(edits)]
        first, whole = ([wait[part] for wait in waits] for part in (0, 1))
        pauses = [pause(editor, file, f"{text}\nother = {n}\n") for n in range(edits)]
        typed = burst(editor, file, text)
    rows = len(text.splitlines())
    print(f"{file.name}, {rows:,} lines: opened in {_ms(opened)}")
    print(f"  edit to diagnostics: median {_ms(statistics.median(first))} of {edits}", end="")
    print(f" ({_ms(min(first))} to {_ms(max(first))})")
    print(f"  until the whole analysis has ended: median {_ms(statistics.median(whole))}")
    print(f"  ten edits, one every {_ms(BETWEEN)}: {_ms(typed)} after the last")
    print(f"  another question meanwhile: median {_ms(statistics.median(pauses))}", end="")
    print(f", at most {_ms(max(pauses))}")


def edit(editor: Editor, file: Path, text: str) -> tuple[float, float]:
    """Seconds from an edit to its first diagnostics, and to the end of the analysis."""
    start = time.perf_counter()
    editor.change(file, text)
    editor.diagnostics(file)
    first = time.perf_counter() - start
    editor.hover(file, 0, 0)  # answered when all is known
    return first, time.perf_counter() - start


def burst(editor: Editor, file: Path, text: str) -> float:
    """Seconds from the last of many quick edits to its diagnostics."""
    for n in range(10):
        time.sleep(BETWEEN)
        editor.change(file, f"{text}\ntyped = {n}\n")
    start = time.perf_counter()
    editor.diagnostics(file)
    return time.perf_counter() - start


def pause(editor: Editor, file: Path, text: str) -> float:
    """Seconds until the server answers about another file while it analyses this one."""
    editor.change(file, text)
    time.sleep(0.02)  # until it is at work
    start = time.perf_counter()
    editor.hover(file.with_name("not_open.txt"), 0, 0)
    waited = time.perf_counter() - start
    editor.diagnostics(file)
    return waited


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


if __name__ == "__main__":
    main()
