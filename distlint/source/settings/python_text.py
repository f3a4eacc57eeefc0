"""Python: the environment variables that a script sets, the commands that it starts, its configs.

Read with the interpreter's own parser, which is fast and knows every position. A script that it
cannot read (newer than itself) holds nothing here; distlint's rules about Python read it anyway.
"""

from __future__ import annotations

import ast
import shlex
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from distlint.source.document import Document
from distlint.source.edits import Lines
from distlint.source.nesting import examine
from distlint.source.settings.shell import Command, Piece, Script, Setting, Word, read
from distlint.source.settings.values import UNKNOWN, Entry, Mapping, Node, Scalar, Sequence

Reader = Literal["deepspeed", "huggingface"]

_STARTERS = frozenset({"run", "Popen", "call", "check_call", "check_output"})
_CONFIG_KEYWORDS: dict[str, tuple[tuple[str, Reader], ...]] = {
    "initialize": (("config", "deepspeed"), ("config_params", "deepspeed")),
    "TrainingArguments": (("deepspeed", "huggingface"),),
    "Seq2SeqTrainingArguments": (("deepspeed", "huggingface"),),
    "DeepSpeedPlugin": (("hf_ds_config", "huggingface"),),
    "HfDeepSpeedConfig": (("config_file_or_dict", "huggingface"),),
    "HfTrainerDeepSpeedConfig": (("config_file_or_dict", "huggingface"),),
}
_MODULES = frozenset({"deepspeed", "ds"})


@dataclass(slots=True)
class Held:
    """A DeepSpeed configuration that a script hands to a call as a dict, or names a file for."""

    node: Node
    reader: Reader


@dataclass(slots=True)
class Found:
    script: Script = field(default_factory=Script)
    configs: list[Held] = field(default_factory=list)


def read_python(document: Document) -> Found | None:
    """What a script sets, starts and configures; None if it cannot be read."""
    if examine(document.text).excess is not None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(document.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _Reader(document, tree).found


class _Names:
    """What is assigned to each name of a script, and which are changed in other ways."""

    def __init__(self) -> None:
        self.assigned: dict[str, list[ast.expr | None]] = {}
        self.touched: set[str] = set()

    def bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.assigned.setdefault(target.id, []).append(node.value)
                elif isinstance(target, ast.Subscript):
                    base = _base(target)
                    if base:
                        self.touched.add(base)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self.assigned.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr, ast.For)):
            if isinstance(node.target, ast.Name):
                self.assigned.setdefault(node.target.id, []).append(None)
        elif isinstance(node, ast.arg):
            self.assigned.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("update", "pop", "setdefault", "clear", "append", "extend"):
                base = _base(node.func.value)
                if base:
                    self.touched.add(base)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                base = _base(target)
                if base:
                    self.touched.add(base)

    def held(self, name: ast.Name) -> ast.expr | None:
        """The only thing that a name ever holds, unchanged."""
        values = self.assigned.get(name.id, [])
        return values[0] if len(values) == 1 and name.id not in self.touched else None


class _Reader:
    def __init__(self, document: Document, tree: ast.Module) -> None:
        self.text = document.text
        self.lines = document.lines
        self.starts = Lines(document.text).starts
        self.found = Found()
        self.nodes = list(ast.walk(tree))
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                self._assign(node)
            elif isinstance(node, ast.Call):
                self._call(node)

    # ---- positions

    def _offset(self, row: int, column: int) -> int:
        """Of a row from 1 and a column in bytes of UTF-8."""
        line = self.lines[row - 1]
        if not line.isascii():
            column = len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.starts[row - 1] + column

    def _bounds(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    # ---- what names hold

    @cached_property
    def _names(self) -> _Names:
        names = _Names()
        for node in self.nodes:
            names.bind(node)
        return names

    def _held(self, node: ast.expr) -> ast.expr | None:
        """An expression itself, or the only thing that its name ever holds, unchanged."""
        return self._names.held(node) if isinstance(node, ast.Name) else node

    # ---- values

    def node(self, node: ast.expr) -> Node:
        start, end = self._bounds(node)
        if isinstance(node, ast.Dict):
            return self._mapping(node, start, end)
        if isinstance(node, (ast.List, ast.Tuple)):
            return Sequence(tuple(self.node(item) for item in node.elts), start, end)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "dict"
        ):
            return Mapping((), start, end, complete=False)
        try:
            return Scalar(ast.literal_eval(node), start, end)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return Scalar(UNKNOWN, start, end)

    def _mapping(self, node: ast.Dict, start: int, end: int) -> Mapping:
        entries = []
        complete = True
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                entries.append(Entry(key.value, *self._bounds(key), self.node(value)))
            else:
                complete = False
        return Mapping(tuple(entries), start, end, complete)

    # ---- the environment

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_environ(target.value):
                self._variable(target.slice, node.value, self._bounds(node))

    def _variable(self, name: ast.expr, value: ast.expr, statement: tuple[int, int]) -> None:
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return
        known = value.value if isinstance(value, ast.Constant) else None
        name_start, name_end = self._bounds(name)
        value_start, value_end = self._bounds(value)
        self.found.script.settings.append(
            Setting(
                name.value,
                known if isinstance(known, str) else None,
                "python",
                name_start,
                value_end,
                name_start,
                name_end,
                value_start,
                value_end,
                statement,
            )
        )

    def _call(self, node: ast.Call) -> None:
        name = _last(node.func)
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if _is_environ(owner) and name == "setdefault" and len(node.args) == 2:
                self._variable(node.args[0], node.args[1], (0, 0))
            elif _is_environ(owner) and name == "update":
                self._update(node)
            elif _last(owner) == "os" and name == "putenv" and len(node.args) == 2:
                self._variable(node.args[0], node.args[1], (0, 0))
            elif _last(owner) == "os" and name == "system" and node.args:
                self._line(node.args[0])
            elif _last(owner) == "subprocess" and name in _STARTERS and node.args:
                self._started(node)
        elif name in _STARTERS - {"run", "call"} and node.args:
            self._started(node)
        if name in _CONFIG_KEYWORDS:
            self._config(node, name)

    def _update(self, node: ast.Call) -> None:
        for argument in node.args:
            if isinstance(argument, ast.Dict):
                for key, value in zip(argument.keys, argument.values, strict=True):
                    if key is not None:
                        self._variable(key, value, (0, 0))

    def _started(self, node: ast.Call) -> None:
        shell = any(
            keyword.arg == "shell"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is True
            for keyword in node.keywords
        )
        first = node.args[0]
        if isinstance(first, (ast.List, ast.Tuple)):
            words = []
            for item in first.elts:
                start, end = self._bounds(item)
                known = item.value if isinstance(item, ast.Constant) else None
                text = known if isinstance(known, str) else None
                splits = isinstance(item, ast.Starred)
                if text is not None:
                    start, end = start + 1, end - 1
                elif _last(item) == "executable":  # of sys
                    text = "python"
                words.append(Word(text, start, end, self.text[start:end], splits))
            if words:
                self.found.script.commands.append(Command(tuple(words), *self._bounds(node)))
        elif shell:
            self._line(first)

    def _line(self, node: ast.expr) -> None:
        """Command lines in one string that is written out without escapes."""
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return
        start, end = self._bounds(node)
        quotes = 3 if self.text.startswith(('"""', "'''"), start) else 1
        start, end = start + quotes, end - quotes
        if self.text[start:end] != node.value:
            return
        try:
            shlex.split(node.value)
        except ValueError:
            return
        more = read(Piece(node.value, tuple(range(start, end + 1))))
        self.found.script.commands += more.commands
        self.found.script.settings += [s for s in more.settings if s.form in ("prefix", "export")]

    # ---- configurations

    def _config(self, node: ast.Call, name: str) -> None:
        if name == "initialize":
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if owner is None or _last(owner) not in _MODULES:
                return
        for keyword in node.keywords:
            for wanted, reader in _CONFIG_KEYWORDS[name]:
                if keyword.arg == wanted:
                    self._hold(keyword.value, reader)
        if name in ("HfDeepSpeedConfig", "HfTrainerDeepSpeedConfig", "DeepSpeedPlugin"):
            for argument in node.args[:1]:
                self._hold(argument, "huggingface")

    def _hold(self, node: ast.expr, reader: Reader) -> None:
        value = self._held(node)
        if isinstance(value, ast.Dict) or (
            isinstance(value, ast.Constant) and isinstance(value.value, str)
        ):
            found = self.node(value)
            if not any(held.node == found for held in self.found.configs):
                self.found.configs.append(Held(found, reader))


def _base(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_environ(node: ast.expr) -> bool:
    return _last(node) == "environ"
