"""The script that shows a hang: the decisions, loops and collectives of the replay, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap

from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.module import Module
from distlint.analyzer.symbolic.proofs import Proof
from distlint.confirm.collectives import Collectives
from distlint.confirm.lines import EMPTY, WIDTH, Line, Lines
from distlint.confirm.names import FAILURE
from distlint.confirm.observed import Observed, Site, Unit
from distlint.confirm.writer import Writer
from distlint.source.finding import Finding
from distlint.source.paths import display

TIMEOUT = 30
"""Seconds until the ranks give up, where they do not see that a peer has gone."""

_FIRST_LINE = re.compile(r'"""DST\d+ at .*, to run\.$', re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script, and which of its lines issue the collectives of which sites."""

    source: str
    ranks: int
    sites: dict[int, Site]
    notes: dict[int, str]
    """What of the source these lines stand for."""


@dataclass(frozen=True)
class Heading:
    """What is said of a script at its begin."""

    about: str
    """The state in which it shows what the finding is about."""
    expected: str
    source: str = "source"
    """Which source its lines stand for."""


def write(
    finding: Finding,
    main: Module,
    proof: Proof,
    observed: Observed,
    locators: Locators,
    heading: Heading | None = None,
) -> Script:
    """The script for a finding in a module.

    Raises:
        CannotWrite: if what leads to the hang has no counterpart there.
    """
    writer = Writer(observed, locators, main.key, Collectives(proof.divergence, observed.ranks))
    body = writer.entry(Unit(main, None), proof.entry)
    functions = writer.written.values()
    heading = heading or _hanging(finding)
    lines = list(_header(finding, heading, writer, [*chain(*functions, body)]))
    for function in functions:
        lines += [EMPTY, EMPTY, *function]
    lines += [EMPTY, EMPTY, *body]
    lines += [Line(0, 'print(f"rank {rank} has finished", flush=True)')]
    sites = {number: line.site for number, line in enumerate(lines, 1) if line.site is not None}
    notes = {number: line.note for number, line in enumerate(lines, 1) if number in sites}
    return Script("\n".join(line.text for line in lines) + "\n", observed.ranks, sites, notes)


def _hanging(finding: Finding) -> Heading:
    return Heading("", finding.explanation.effect if finding.explanation is not None else "")


def _header(finding: Finding, heading: Heading, writer: Writer, lines: Lines) -> Iterator[Line]:
    yield from (Line(0, text) for text in _docstring(finding, heading, writer.observed.ranks))
    code = [line.code for line in lines]
    yield EMPTY
    if any(line.startswith("@contextlib") for line in code):
        yield Line(0, "import contextlib")
    yield Line(0, "import datetime")
    if any("sys.exit" in line for line in code):
        yield Line(0, "import sys")
    yield EMPTY
    if any("torch." in line for line in code):
        yield Line(0, "import torch")
    yield Line(0, "import torch.distributed as dist")
    if any(FAILURE in line for line in code):
        yield from (EMPTY, EMPTY, Line(0, f"class {FAILURE}(Exception):"))
        yield from (Line(1, '"""Stands for what is raised in the source."""'), EMPTY)
    yield EMPTY
    timeout = f"datetime.timedelta(seconds={TIMEOUT})"
    yield Line(0, f'dist.init_process_group("gloo", timeout={timeout})')
    yield Line(0, "rank = dist.get_rank()")
    if writer.collectives.groups:
        each = ", ".join(map(repr, writer.collectives.groups))
        yield Line(0, f"groups = {{ranks: dist.new_group(ranks) for ranks in ({each},)}}")
    for name, table in writer.tables.items():
        if any(f"next({name}," in line for line in code):
            yield table


def _docstring(finding: Finding, heading: Heading, ranks: int) -> Iterator[str]:
    place = finding.place
    about = f" {heading.about}" if heading.about else ""
    yield f'"""{finding.code} at {_plain(display(place.path))}:{place.span.row}{about}, to run.'
    yield ""
    for text in (
        f"Run:      torchrun --nproc-per-node {ranks} THIS_FILE",
        f"Expected: {heading.expected}.",
        f"Each line stands for the line of the {heading.source} that is named beside it.",
    ):
        yield from wrap(_plain(text), WIDTH, subsequent_indent=" " * 10)
    yield '"""'


def is_script(text: str) -> bool:
    """Does a text begin as a script of ours does?"""
    return _FIRST_LINE.match(text) is not None


def _plain(text: str) -> str:
    """A text that ends no string and escapes nothing in it."""
    return text.replace("\\", "/").replace('"', "'")
