"""Take an example apart: its imports, its definitions, and what it does when it is started."""

from __future__ import annotations

import ast
import json
import symtable
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import libcst as cst

from benchmarks.embedding.lines import Line
from distlint.rules.registry import rules

SET_UP = frozenset(
    f"DST{number}" for number in (501, 502, 503, 505, 506, 507, 508, 509, 510, 513, 514)
)
"""Rules about how a whole program is set up and ended, which is the trainer's own part."""

KINDS = {
    "accelerate": ("accelerate",),
    "deepspeed": ("deepspeed",),
    "lightning": ("fabric",),
    "pytorch_lightning": ("fabric",),
}
"""The frameworks whose examples belong into trainers that use them."""


class NotEmbeddable(Exception):
    """Why an example has to stay a script of its own."""


@dataclass(frozen=True)
class Source:
    """An example or a reproducer."""

    name: str
    code: str
    good: bool
    family: str
    preview: bool = False
    file: str = "script.py"


@dataclass
class Fragment:
    """An example in parts."""

    imports: list[Line] = field(default_factory=list)
    definitions: list[Line] = field(default_factory=list)
    run: list[Line] = field(default_factory=list)
    """What it does when it is started; empty for definitions alone."""
    backend: str = '"nccl"'
    inline: bool = False
    """Has what it does to stand at module level, since functions read its variables?"""
    frameworks: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    """Those that it has at module level."""


def examples() -> Iterator[Source]:
    """The examples of the rules."""
    for code, rule in rules().items():
        for good, each in (("good", rule.good), ("bad", rule.bad)):
            for number, example in enumerate(each, 1):
                name = f"{code}/{good}-{number}"
                yield Source(name, example.code, good == "good", code, rule.preview, example.file)


def reproducers(file: Path) -> Iterator[Source]:
    """The reproducers of a file with one JSON object a line."""
    for line in filter(str.strip, file.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        yield Source(row["id"], row["pattern"], False, row["category"])


def fragment_of(source: Source, rows: Iterable[int], *, renamed: bool = False) -> Fragment:
    """Take a source apart; ``rows`` are those of its findings, which are to stay.

    Raises:
        NotEmbeddable: if it makes sense only as a script of its own.
    """
    if not source.file.endswith(".py"):
        raise NotEmbeddable(f"no Python: .{source.file.rpartition('.')[2]}")
    if source.family.startswith("DST0"):
        raise NotEmbeddable("about the text of a file")
    code = dedent(source.code)
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        raise NotEmbeddable("no Python of this version") from None
    if renamed:
        code = with_other_names(code)
        tree = ast.parse(code)
    if source.good and _writes_alone(code):
        raise NotEmbeddable("a single process that writes files, as all ranks may not")
    if source.good and ("devices=1" in code or "num_processes=1" in code):
        raise NotEmbeddable("good on the one process that it asks for")
    return _Taking(code, tree, frozenset(rows)).fragment()


def _writes_alone(code: str) -> bool:
    words = ("distributed", "accelerate", "deepspeed", "lightning", "RANK")
    writes = ("save(", "mkdir", "makedirs", "rmtree", "remove(", '"w"', "download")
    return not any(word in code for word in words) and any(word in code for word in writes)


class _Taking:
    def __init__(self, code: str, tree: ast.Module, rows: frozenset[int]) -> None:
        self.code, self.tree, self.rows = code, tree, rows
        self.lines = [Line(text, row) for row, text in enumerate(code.splitlines(), 1)]
        self.found = Fragment()

    def fragment(self) -> Fragment:
        self._take_set_up_out()
        assigned: list[ast.stmt] = []
        for statement in self._statements():
            if isinstance(statement, ast.Import | ast.ImportFrom):
                if self.found.run:
                    raise NotEmbeddable("imports after it has begun")
                if not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
                    self.found.imports += self._of(statement)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.found.definitions += [*self._of(statement), Line(""), Line("")]
            elif isinstance(statement, ast.Assign) and _is_constant(statement.value):
                self.found.definitions += self._of(statement)
            elif not (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                taken = self._of(statement)
                self.found.run += taken
                assigned.append(statement)
        self._look_at_names(assigned)
        return self.found

    def _statements(self) -> Iterator[ast.stmt]:
        """Those of the module, with what is behind the test for the main module."""
        for statement in self.tree.body:
            if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
                if statement.body[0].lineno == statement.lineno:
                    raise NotEmbeddable("is started in one line")
                first, last = statement.body[0].lineno, _end(statement.body[-1])
                columns = statement.body[0].col_offset
                for index in range(first - 1, last):
                    line = self.lines[index]
                    self.lines[index] = Line(line.text[columns:], line.origin)
                yield from statement.body
            else:
                yield statement

    def _of(self, statement: ast.stmt) -> list[Line]:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(each.lineno for each in decorators)])
        lines = [line for line in self.lines[first - 1 : _end(statement)] if line.text != "\0"]
        if lines and lines[0].text.lstrip().startswith(";"):
            raise NotEmbeddable("several statements in a line")
        return lines

    def _take_set_up_out(self) -> None:
        """The trainer joins the process group and leaves it."""
        starts = ("mp.spawn(", "multiprocessing.spawn(", "notebook_launcher(", "elastic_launch(")
        if any(each in self.code for each in starts):
            raise NotEmbeddable("starts its processes itself")
        for node in ast.walk(self.tree):
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
                continue
            name = ast.unparse(node.value.func).rpartition(".")[2]
            if name not in ("init_process_group", "destroy_process_group"):
                continue
            if name == "destroy_process_group" and (node.value.args or node.value.keywords):
                continue  # of a group of its own
            if name == "init_process_group":
                for argument in [*node.value.args, *(k.value for k in node.value.keywords)]:
                    if isinstance(argument, ast.Constant) and argument.value in ("gloo", "nccl"):
                        self.found.backend = f'"{argument.value}"'
            if self.rows & set(range(node.lineno, _end(node) + 1)):
                raise NotEmbeddable("is about joining or leaving the process group")
            first = self.lines[node.lineno - 1]
            head, tail = first.text[: node.col_offset], self.lines[_end(node) - 1]
            if head.strip() or tail.text[node.end_col_offset or 0 :].lstrip().startswith(";"):
                raise NotEmbeddable("several statements in a line")
            top = node in self.tree.body
            self.lines[node.lineno - 1] = Line("\0" if top else f"{head}pass", first.origin)
            for row in range(node.lineno, _end(node)):
                self.lines[row] = Line("\0")

    def _look_at_names(self, run: list[ast.stmt]) -> None:
        table = symtable.symtable(self.code, "example", "exec")
        inner = {name for child in table.get_children() for name in _globals_of(child)}
        at_definition = {
            node.id
            for statement in self.tree.body
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for part in _evaluated(statement)
            for node in ast.walk(part)
            if isinstance(node, ast.Name)
        }
        module = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
        imported = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_imported()}
        stored = {
            node.id
            for statement in run
            for node in _outside_functions(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        defined = {
            statement.name
            for statement in self.tree.body
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        constants = {
            target.id
            for statement in self.tree.body
            if isinstance(statement, ast.Assign) and statement not in run
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        here = imported | defined | constants
        self.found.inline = bool(stored & (inner | at_definition | here))
        self.found.names = frozenset(module | defined) - imported
        heads = {
            alias.name.split(".")[0] if isinstance(node, ast.Import) else (node.module or "")
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        self.found.frameworks = tuple(sorted({h.split(".")[0] for h in heads} & set(KINDS)))


def _end(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno


def _is_constant(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "logging.getLogger"
    return isinstance(value, ast.Constant)


def _globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_global():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals_of(child)


def _evaluated(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    """What is evaluated where something is defined."""
    if isinstance(statement, ast.ClassDef):
        in_body = [node.value for node in statement.body if isinstance(node, ast.Assign | ast.Expr)]
        return [*statement.decorator_list, *statement.bases, *in_body]
    defaults = [each for each in statement.args.kw_defaults if each is not None]
    return [*statement.decorator_list, *statement.args.defaults, *defaults]


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            yield from _outside_functions(child)


# -- other names


def with_other_names(code: str, only: Mapping[str, str] | None = None) -> str:
    """The code with its variables, functions and classes called otherwise, in the same rows."""
    chosen = dict(only) if only is not None else other_names(code)
    return cst.parse_module(code).visit(_Renaming(chosen)).code if chosen else code


def other_names(code: str) -> dict[str, str]:
    """New names for what an example itself defines. Parameters and attributes keep theirs."""
    table = symtable.symtable(code, "example", "exec")
    kept: set[str] = set()
    found: list[str] = []

    def look(scope: symtable.SymbolTable) -> None:
        for symbol in scope.get_symbols():
            name = symbol.get_name()
            bound = symbol.is_assigned() or symbol.is_namespace()
            if symbol.is_parameter() or symbol.is_imported() or scope.get_type() == "class":
                kept.add(name)
            elif bound and not name.startswith("__"):
                found.append(name)
        for child in scope.get_children():
            look(child)

    look(table)
    names = sorted(set(found) - kept - _exported(code))
    return {
        name: f"Part{number}" if name[0].isupper() else f"value_{number}"
        for number, name in enumerate(names, 1)
    }


def _exported(code: str) -> set[str]:
    """Names that are keywords somewhere, or that text could mean."""
    tree = ast.parse(code)
    words = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return words | texts


class _Renaming(cst.CSTTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:  # noqa: N802
        return updated.with_changes(attr=original.attr)

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:  # noqa: N802
        return updated.with_changes(keyword=original.keyword)

    def leave_ImportAlias(  # noqa: N802
        self, original: cst.ImportAlias, updated: cst.ImportAlias
    ) -> cst.ImportAlias:
        return original

    def leave_ImportFrom(  # noqa: N802
        self, original: cst.ImportFrom, updated: cst.ImportFrom
    ) -> cst.ImportFrom:
        return original

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.Name:  # noqa: N802
        return updated.with_changes(value=self.names.get(original.value, original.value))
