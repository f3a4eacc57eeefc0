"""Python: the environment variables that a script sets, the commands that it starts, its configs.

Read with the interpreter's own parser, which is fast and knows every position. A script that it
cannot read (newer than itself) holds nothing here; distlint's rules about Python read it anyway.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from typing import Literal

from distlint.source.document import Document
from distlint.source.nesting import examine
from distlint.source.settings.python_commands import commands_of
from distlint.source.settings.python_names import Names, Positions, last
from distlint.source.settings.shell import Script, Setting
from distlint.source.settings.values import UNKNOWN, Entry, Mapping, Node, Scalar, Sequence

Reader = Literal["deepspeed", "huggingface"]

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


class _Reader:
    def __init__(self, document: Document, tree: ast.Module) -> None:
        self.names = Names(tree)
        self.positions = Positions(document)
        self._bounds = self.positions.bounds
        self.found = Found()
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Assign):
                self._assign(node)
            elif isinstance(node, ast.Call):
                self._call(node)
        started = commands_of(self.names, nodes, self.positions)
        self.found.script.commands += started.commands
        self.found.script.settings += started.settings

    def _held(self, node: ast.expr) -> ast.expr | None:
        """An expression itself, or the only thing that its name ever holds, unchanged."""
        return self.names.held(node) if isinstance(node, ast.Name) else node

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
        name = last(node.func)
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if _is_environ(owner) and name == "setdefault" and len(node.args) == 2:
                self._variable(node.args[0], node.args[1], (0, 0))
            elif _is_environ(owner) and name == "update":
                self._update(node)
            elif last(owner) == "os" and name == "putenv" and len(node.args) == 2:
                self._variable(node.args[0], node.args[1], (0, 0))
        if name in _CONFIG_KEYWORDS:
            self._config(node, name)

    def _update(self, node: ast.Call) -> None:
        for argument in node.args:
            if isinstance(argument, ast.Dict):
                for key, value in zip(argument.keys, argument.values, strict=True):
                    if key is not None:
                        self._variable(key, value, (0, 0))

    # ---- configurations

    def _config(self, node: ast.Call, name: str) -> None:
        if name == "initialize":
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            if owner is None or last(owner) not in _MODULES:
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


def _is_environ(node: ast.expr) -> bool:
    return last(node) == "environ"
