"""All that a document says about how a training is configured and started, whatever its kind."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from distlint.source.comments import Comment as RowComment
from distlint.source.document import Document
from distlint.source.edits import Lines
from distlint.source.finding import Place, Span
from distlint.source.settings import files, json_text, python_text, shell, yaml_text
from distlint.source.settings.kinds import Kind, is_workflow, kind_of, may_be_meant
from distlint.source.settings.shell import Piece, Script
from distlint.source.settings.values import Malformed, Mapping, Parsed, Scalar

Library = Literal["deepspeed", "accelerate"]
Reader = Literal["deepspeed", "huggingface", "unknown"]

DEEPSPEED_KEYS = frozenset(
    {
        "train_batch_size",
        "train_micro_batch_size_per_gpu",
        "gradient_accumulation_steps",
        "zero_optimization",
        "zero_allow_untested_optimizer",
        "steps_per_print",
        "gradient_clipping",
        "wall_clock_breakdown",
        "activation_checkpointing",
        "prescale_gradients",
        "fp16",
        "bf16",
        "communication_data_type",
    }
)
_CERTAIN = frozenset({"zero_optimization", "train_micro_batch_size_per_gpu"})


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration of a library: a whole file, or a dict in a script."""

    library: Library
    root: Mapping
    reader: Reader = "unknown"
    extensions: tuple[tuple[str, int, int], ...] = ()


@dataclass(slots=True)
class Sheet:
    """The configurations, variables and commands in one document."""

    document: Document
    kind: Kind
    configs: list[Config] = field(default_factory=list)
    script: Script = field(default_factory=Script)
    config_files: list[tuple[Scalar, Reader]] = field(default_factory=list)
    """Configuration files that a script hands to a call by name."""
    templated: bool = False
    _line_starts: list[int] = field(default_factory=list)

    def span(self, start: int, end: int) -> Span:
        row, end_row = self._row(start), self._row(end)
        starts = self._starts
        return Span(row, start - starts[row - 1] + 1, end_row, end - starts[end_row - 1] + 1)

    def place(self, start: int, end: int) -> Place:
        return Place(self.document.path, self.span(start, end))

    def _row(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    @property
    def _starts(self) -> list[int]:
        if not self._line_starts:
            self._line_starts = Lines(self.document.text).starts
        return self._line_starts

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        return self._starts[self._row(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Where the line of an offset ends, before its newline."""
        row = self._row(offset)
        return self._starts[row - 1] + len(self.document.lines[row - 1])

    def next_line(self, offset: int) -> int:
        row = self._row(offset)
        return self._starts[row] if row < len(self._starts) else len(self.document.text)

    def comments(self) -> list[RowComment]:
        """The comments with the rows that each covers."""
        return list(self._comments())

    def _comments(self) -> Iterator[RowComment]:
        statements = sorted(self.statements())
        for comment in sorted(self.script.comments, key=lambda each: each.start):
            row = self._row(comment.start)
            span = self.span(comment.start, comment.end)
            text = self.document.text[comment.start : comment.end]
            alone = not self.document.text[self.line_start(comment.start) : comment.start].strip()
            rows = range(row, row + 1)
            if alone:
                following = next((rs for rs in statements if rs[1] > row), None)
                last = following[1] - 1 if following and following[0] > row else row + 1
                rows = range(row, max(last, row) + 1)
                if following is None:
                    rows = range(row, row + 2)
            else:
                inside = [rs for rs in statements if rs[0] <= row < rs[1]]
                if inside:
                    rows = range(inside[-1][0], inside[-1][1])
            yield RowComment(text, row, span.column, rows)

    def statements(self) -> Iterator[tuple[int, int]]:
        """The first row of each statement, and the row after its last."""
        for start, end in self.script.statements:
            if end > start:
                yield self._row(start), self._row(end) + 1


@lru_cache(maxsize=4)
def read(document: Document, *, first: bytes = b"") -> Sheet | None:
    """The sheet of a document; None where its kind is not known.

    Raises:
        DocumentError: with the place of a mistake, for JSON and YAML.
    """
    kind = kind_of(document.path, first or document.data[:256])
    if kind is None:
        return None
    sheet = Sheet(document, kind)
    _READERS[kind](sheet)
    return sheet


def _read_json(sheet: Sheet) -> None:
    parsed = _parsed(sheet, json_text.parse)
    if parsed is None:
        return
    sheet.script.comments += parsed.comments
    root = parsed.root
    if isinstance(root, Mapping) and is_deepspeed(root, sheet.document.path):
        sheet.configs.append(Config("deepspeed", root, "unknown", tuple(parsed.extensions)))


def is_deepspeed(root: Mapping, path: Path) -> bool:
    """Is it a DeepSpeed configuration, by the keys and the name of the file?"""
    keys = root.keys
    if keys & _CERTAIN:
        return True
    name = path.name.lower()
    said = "deepspeed" in name or "ds_" in name or "zero" in name
    return len(keys & DEEPSPEED_KEYS) >= (1 if said else 3)


def _read_yaml(sheet: Sheet) -> None:
    parsed = _parsed(sheet, yaml_text.parse)
    if parsed is None:
        return
    sheet.script.comments += parsed.comments
    root = parsed.root
    if not isinstance(root, Mapping):
        return
    if {"distributed_type", "compute_environment"} & root.keys:
        if parsed.second is not None:
            message = "Accelerate reads files with a single document, but a second one starts here"
            raise Malformed(message, parsed.second).error(sheet.document)
        sheet.configs.append(Config("accelerate", root))
        sheet.script.statements += [
            (entry.start, entry.end) for entry in root.entries if not entry.merged
        ]
    elif is_workflow(sheet.document.path):
        sheet.script = files.workflow(sheet.document.text, parsed)


def _parsed(sheet: Sheet, parse: Callable[[str], Parsed]) -> Parsed | None:
    document = sheet.document
    try:
        if parse is yaml_text.parse and "{%" in document.text:
            raise Malformed("a template", 0)  # YAML might take a part of it for a mapping
        return parse(document.text)
    except Malformed as error:
        if not may_be_meant(sheet.kind, document.path, document.data):
            return None  # another tool's, and its own matter
        if not json_text.is_templated(document.text):
            raise error.error(document) from None
    sheet.templated = True
    return None


def _read_shell(sheet: Sheet) -> None:
    sheet.script = shell.read(Piece.whole(sheet.document.text))


def _read_dockerfile(sheet: Sheet) -> None:
    sheet.script = files.dockerfile(sheet.document.text)


def _read_makefile(sheet: Sheet) -> None:
    sheet.script = files.makefile(sheet.document.text)


def _read_python(sheet: Sheet) -> None:
    found = python_text.read_python(sheet.document)
    if found is None:
        return
    sheet.script = found.script
    for held in found.configs:
        if isinstance(held.node, Mapping):
            sheet.configs.append(Config("deepspeed", held.node, held.reader))
        elif isinstance(held.node, Scalar):
            sheet.config_files.append((held.node, held.reader))


_READERS = {
    "json": _read_json,
    "yaml": _read_yaml,
    "shell": _read_shell,
    "dockerfile": _read_dockerfile,
    "makefile": _read_makefile,
    "python": _read_python,
}
