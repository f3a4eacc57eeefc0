"""Draw docs/pictures/*.svg, for light and for dark pages. With --check, are they up to date?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from distlint.output.formats import full
from distlint.output.style import Part
from scripts import generated

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"


@dataclass(frozen=True)
class Palette:
    ink: str
    faint: str
    line: str
    panel: str
    bar: str
    bar_ink: str
    bad: str
    bad_panel: str
    good: str
    gutter: str


PALETTES = {
    "light": Palette(
        "#1f2430", "#5b6475", "#b8c0cc", "#f4f6fa", "#dbe4ff", "#1b2f7a", "#b3261e", "#fde7e5",
        "#1b6e3c", "#2b4cb3",
    ),
    "dark": Palette(
        "#e6e9f0", "#a2abbb", "#4a5263", "#262a35", "#33447e", "#e3eaff", "#ff8a80", "#4a2626",
        "#7fd6a0", "#e3eaff",
    ),
}  # fmt: skip


class Drawing:
    """Shapes in one palette; coordinates in pixels."""

    def __init__(self, width: int, height: int, title: str, palette: Palette) -> None:
        self.width, self.height, self.title = width, height, title
        self.p = palette
        self.parts: list[str] = []

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str,
        stroke: str = "",
        dash: bool = False,
    ) -> None:
        line = f' stroke="{stroke}"' if stroke else ""
        dashed = ' stroke-dasharray="4 3"' if dash else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="6" fill="{fill}"'
            f"{line}{dashed}/>"
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        fill: str = "",
        anchor: str = "start",
        code: bool = False,
        bold: bool = False,
        size: float = 14,
        length: float = 0,
    ) -> None:
        family = "ui-monospace, Menlo, Consolas, monospace" if code else "inherit"
        weight = ' font-weight="600"' if bold else ""
        fixed = f' textLength="{length:g}" xml:space="preserve"' if length else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" fill="{fill or self.p.ink}" text-anchor="{anchor}" '
            f'font-size="{size:g}" font-family="{family}"{weight}{fixed}>{escape(text)}</text>'
        )

    def line(
        self,
        *points: tuple[float, float],
        stroke: str = "",
        arrow: bool = False,
        dash: bool = False,
    ) -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        end = ' marker-end="url(#arrow)"' if arrow else ""
        dashed = ' stroke-dasharray="5 4"' if dash else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{stroke or self.p.line}" '
            f'stroke-width="1.6"{end}{dashed}/>'
        )

    def svg(self) -> str:
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'role="img" font-family="system-ui, -apple-system, Segoe UI, sans-serif">\n'
            f"<title>{escape(self.title)}</title>\n"
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            f'markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{self.p.faint}"/>'
            f"</marker></defs>\n{body}\n</svg>\n"
        )


def pipeline(p: Palette) -> Drawing:
    """From text to a finding."""
    d = Drawing(880, 150, "From the text of a script to findings", p)
    stages: Sequence[tuple[str, str, str]] = (
        ("Text", "train.py and what", "it imports"),
        ("A small program", "what can decide or", "communicate"),
        ("Simulation", "two ranks at a time,", "side by side"),
        ("Replay", "all ranks of the", "simulated cluster"),
        ("Finding", "who waits where,", "and why"),
    )
    for index, (name, first, second) in enumerate(stages):
        x = 10 + index * 176
        d.box(x, 40, 146, 84, p.panel, p.line)
        d.text(x + 73, 66, name, anchor="middle", bold=True, size=14)
        d.text(x + 73, 90, first, anchor="middle", fill=p.faint, size=12.5)
        d.text(x + 73, 108, second, anchor="middle", fill=p.faint, size=12.5)
        if index:
            d.line((x - 29, 82), (x - 3, 82), stroke=p.faint, arrow=True)
    for index, label in ((2, "divergences"), (3, "deadlocks")):
        d.text(10 + index * 176 + 161, 30, label, anchor="middle", fill=p.faint, size=12)
    return d


def cluster(p: Palette) -> Drawing:
    """What a value is on each rank."""
    d = Drawing(800, 330, "What values are on the four ranks of the simulated cluster", p)
    left, step = 320, 112
    for node in range(2):
        d.box(left + node * 2 * step - 8, 12, 2 * step - 8, 306, p.panel, p.line)
        middle = left + node * 2 * step + step - 12
        d.text(middle, 34, f"node {node}", anchor="middle", fill=p.faint, size=12.5)
    for rank in range(4):
        d.text(left + rank * step + 44, 58, f"rank {rank}", anchor="middle", bold=True)
    rows: Sequence[tuple[str, str, Sequence[str]]] = (
        ("dist.get_rank()", "known", ("0", "1", "2", "3")),
        ('os.environ["LOCAL_RANK"]', "known", ("0", "1", "0", "1")),
        ("rank == 0", "known", ("true", "false", "false", "false")),
        ("args.resume", "uniform", ("?", "?", "?", "?")),
        ("loss.item() < best", "own", ("a?", "b?", "c?", "d?")),
    )
    for index, (source, kind, values) in enumerate(rows):
        y = 92 + index * 46
        d.text(12, y, source, code=True, size=13)
        said = {
            "known": "follows from the rank",
            "uniform": "unknown, the same on all ranks",
            "own": "unknown, rank-local",
        }[kind]
        d.text(12, y + 17, said, fill=p.faint, size=12)
        if kind == "uniform":
            d.box(left, y - 16, 4 * step - 24, 26, p.bar)
            middle = left + 2 * step - 12
            d.text(middle, y + 2, "one unknown", anchor="middle", fill=p.bar_ink, size=13)
            continue
        for rank, value in enumerate(values):
            x = left + rank * step
            fill = p.bad_panel if kind == "own" else p.bar
            d.box(x, y - 16, 88, 26, fill)
            ink = p.bad if kind == "own" else p.bar_ink
            d.text(x + 44, y + 2, value, anchor="middle", fill=ink, code=True, size=13)
    return d


def walk(p: Palette) -> Drawing:
    """Two ranks from one matching collective to the next, until they diverge."""
    d = Drawing(
        860,
        420,
        "Two ranks run in lock-step until one reaches a collective that the other does not",
        p,
    )
    lanes = {"rank 0": 250, "the other ranks": 570}
    for name, x in lanes.items():
        d.text(x, 26, name, anchor="middle", bold=True, size=15)
        d.line((x, 38), (x, 250))
    for y, label in ((58, "DDP(model)"), (118, "loss.backward()")):
        d.box(130, y, 560, 34, p.bar)
        d.text(410, y + 22, label, anchor="middle", fill=p.bar_ink, code=True)
    d.text(740, 80, "matches", fill=p.faint, size=12.5)
    d.text(740, 140, "last match", fill=p.faint, size=12.5)
    d.box(300, 184, 220, 40, p.panel, p.bad, dash=True)
    d.text(410, 209, "if rank == 0:", anchor="middle", fill=p.bad, code=True)
    d.text(262, 209, "true", fill=p.faint, size=12.5)
    d.text(558, 209, "false", anchor="end", fill=p.faint, size=12.5)
    d.text(740, 209, "the decision", fill=p.faint, size=12.5)
    for x, call, line in (
        (250, "average(...)", "dist.all_reduce(total)"),
        (570, "the next step", "loss.backward()"),
    ):
        d.line((x, 250), (x, 292), stroke=p.faint, arrow=True)
        d.text(x + 10, 274, call, fill=p.faint, size=12.5)
        d.box(x - 140, 298, 280, 36, p.bad_panel, p.bad)
        d.text(x, 321, line, anchor="middle", fill=p.bad, code=True)
        d.text(x, 356, "waits here", anchor="middle", fill=p.bad, size=12.5)
    d.text(736, 321, "mismatch", fill=p.bad, size=12.5)
    d.line((396, 316), (424, 316), stroke=p.bad, dash=True)
    d.text(410, 310, "✕", anchor="middle", fill=p.bad, size=16)
    d.text(
        410,
        396,
        "Replayed on all four ranks, no rank continues: a finding, with paths and decision.",
        anchor="middle",
        fill=p.faint,
        size=13,
    )
    return d


def finding(p: Palette) -> Drawing:
    """What ``distlint check`` prints in a terminal."""
    styles = {
        "bold": p.ink,
        "bold red": p.bad,
        "bold blue": p.gutter,
        "green": p.good,
        "red": p.bad,
    }
    recorder = _Recorder()
    before = Path.cwd()
    os.chdir(FOLDER.parents[1])
    try:
        report = check_paths([Path(SHOWN)], Resolver(Overrides(isolated=True), Path.cwd()), jobs=1)
        full.render(report.reported[0], recorder, TERMINAL)
    finally:
        os.chdir(before)
    lines: list[list[Part]] = [["$ distlint check train.py"], *recorder.lines]
    d = Drawing(16 + round(TERMINAL * 8.15), 30 + 18 * len(lines), "A finding of distlint", p)
    d.box(0, 0, d.width, d.height, p.panel, p.line)
    for row, parts in enumerate(lines):
        column = 0
        for part in parts:
            text, style = (part, "") if isinstance(part, str) else part
            bare = text.lstrip(" ")
            x = 16 + 8.0 * (column + len(text) - len(bare))
            column += len(text)
            if bare:
                ink = styles.get(style, p.ink)
                said = bare.replace(SHOWN, "train.py")
                wide = 8.0 * len(said)
                d.text(x, 26 + 18 * row, said, fill=ink, code=True, size=13.3, length=wide)
    return d


class _Recorder:
    """Keeps the lines that a renderer writes."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.lines: list[list[Part]] = []

    def line(self, *parts: Part) -> None:
        self.lines.append(list(parts))


SHOWN = "examples/nanogpt_style/buggy.py"
TERMINAL = 88
"""Columns of the terminal."""

PICTURES: Sequence[Callable[[Palette], Drawing]] = (pipeline, cluster, walk, finding)


def files() -> dict[str, str]:
    """The pictures by file name."""
    return {
        f"{draw.__name__}-{name}.svg": draw(palette).svg()
        for draw in PICTURES
        for name, palette in PALETTES.items()
    }


def differences() -> list[str]:
    """The files that are missing, stale or left over."""
    return generated.stale(FOLDER, ".svg", files())


if __name__ == "__main__":
    sys.exit(generated.write(FOLDER, ".svg", files()))
