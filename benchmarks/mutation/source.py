"""One file as the operators see it: its tree, what names mean in it, and edits of its text.

Nothing here knows of distlint: which calls are collectives, and which tests are about the rank, is
told by imports and words alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

COLLECTIVES = frozenset(
    {
        "barrier", "monitored_barrier", "all_reduce", "reduce", "broadcast", "all_gather", "gather",
        "scatter", "reduce_scatter", "all_to_all", "all_to_all_single", "all_gather_object",
        "gather_object", "broadcast_object_list", "scatter_object_list", "all_gather_into_tensor",
        "reduce_scatter_tensor",
    }
)  # fmt: skip
"""Functions of ``torch.distributed`` in which all ranks of a group have to meet."""

METHODS = {
    "accelerator": frozenset({"wait_for_everyone", "gather", "gather_for_metrics", "reduce"}),
    "fabric": frozenset({"barrier", "all_reduce", "all_gather"}),
}
"""The same for methods, by the last name of the object."""

_MAIN = {"accelerator": "is_main_process", "fabric": "is_global_zero"}
_ROOTS = ("torch.distributed", "deepspeed.comm")

RANK_WORDS = re.compile(
    r"rank|main_process|is_main|master(?!_?(addr|port))|global_zero|process_zero|primary|chief"
    r"|process_index|coordinator|leader|first_(rank|process|node)|is_head|is_root|owner|gpu_id",
    re.IGNORECASE,
)
_RANK_TEST = re.compile(
    r"(?:[\w.]*\.)?(?:(?:global|local|dist|my)_?)?rank(?:\(\))? (?:==|<|!=) ?0"
    r"|(?:[\w.]*\.)?(?:global|local|dp|dist|my)?_?rank(?:\(\))? in [\[(](?:-1, 0|0, -1)[\])]"
    r"|(?:[\w.]*\.)?is_(?:main|master|global_zero|main_process|rank_0|rank_zero)(?:_process)?(?:\(\))?"
    r"|(?:[\w.]*\.)?(?:master|main)_process"
    r"|(?:[\w.]*\.)?get_rank\(\) == 0"
)
_ONE_PROCESS = re.compile(r"world_size\D*(?:== 1|<= 1|< 2)|no_cuda|single|debug", re.IGNORECASE)
_MANY = re.compile(r"distrib|world|ddp|initialized|multi", re.IGNORECASE)

Statements = list[ast.stmt]


@dataclass(frozen=True)
class Place:
    """A statement in its block."""

    block: Statements
    index: int

    @property
    def statement(self) -> ast.stmt:
        return self.block[self.index]


class Source:
    """One parsed file.

    Raises:
        SyntaxError, ValueError: if the text is no Python.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.lines: list[str] = re.findall(r"[^\n]*\n|[^\n]+", text)
        self.tree = ast.parse(text)
        self._made: dict[ast.AST, dict[str, ast.expr]] = {}

    # -- where things are

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    @cached_property
    def places(self) -> dict[ast.stmt, Place]:
        """The block and index of every statement."""
        return {
            statement: Place(block, index)
            for node in ast.walk(self.tree)
            for block in blocks(node)
            for index, statement in enumerate(block)
        }

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        for above in self.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                return above
            if isinstance(above, ast.Lambda):
                return None
        return None

    def scope_of(self, node: ast.AST) -> ast.AST:
        return self.function_of(node) or self.tree

    def statement_of(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def loops_around(self, node: ast.AST) -> Iterator[ast.For | ast.While]:
        """The loops of its function that a node stands in the body of, innermost first."""
        for above in self.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return
            if isinstance(above, ast.For | ast.While):
                yield above

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement that has its lines to itself, in the order of the text."""
        found = [each for each in self.places if self.is_alone(each)]
        return sorted(found, key=lambda each: each.lineno)

    def is_alone(self, statement: ast.stmt) -> bool:
        before = self.lines[statement.lineno - 1].encode()[: statement.col_offset]
        after = self.lines[(statement.end_lineno or 1) - 1].encode()[statement.end_col_offset :]
        return not before.strip() and (not after.strip() or after.strip().startswith(b"#"))

    # -- what names mean

    @cached_property
    def imports(self) -> dict[str, str]:
        """What the imports of the file, at any depth, bind names to."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    found[alias.asname or root] = alias.name if alias.asname else root
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                for alias in node.names:
                    joint = "" if base.endswith(".") or not base else "."
                    found[alias.asname or alias.name] = f"{base}{joint}{alias.name}"
        return found

    @cached_property
    def has_clock(self) -> bool:
        """Does the module itself import ``time``, so that every function has it?"""
        return any(
            alias.name == "time" and not alias.asname
            for node in self.tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
        )

    def dotted(self, node: ast.expr) -> str:
        """The full name of a function or module, else an empty string."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return ""
        return ".".join([self.imports[node.id], *reversed(parts)])

    def collective(self, call: ast.expr) -> str:
        """The name of the collective that an expression is a call of, else an empty string."""
        if not isinstance(call, ast.Call):
            return ""
        owner, _, name = self.dotted(call.func).rpartition(".")
        if owner in _ROOTS and name in COLLECTIVES:
            return name
        if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS.get(
            last_name(call.func.value), ()
        ):
            return call.func.attr
        return ""

    def is_meeting(self, node: ast.AST) -> bool:
        """Is it a call in which ranks meet, gradients included?"""
        if not isinstance(node, ast.Call):
            return False
        return self.collective(node) != "" or last_name(node.func) == "backward"

    def collective_in(self, statement: ast.stmt) -> tuple[str, ast.Call] | None:
        """The collective that a plain statement does, with its call."""
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
            if name := self.collective(statement.value):
                return name, statement.value
        return None

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """The functions and classes of the module's body."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return {node.name: node for node in self.tree.body if isinstance(node, kinds)}

    def maker(self, name: str, at: ast.AST) -> ast.expr | None:
        """What a variable's value is made by, in the function around a node."""
        return self._makers(self.scope_of(at)).get(name)

    def _makers(self, scope: ast.AST) -> dict[str, ast.expr]:
        found = self._made.get(scope)
        if found is None:
            found = self._made[scope] = {
                target.id: node.value.func
                for node in walk_own(scope)
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
        return found

    # -- which ranks come to a place

    def rank_0(self, place: ast.stmt, call: ast.Call | None = None) -> str:
        """A test that this is rank 0, which can be asked before a statement; empty if unknown.

        In the words that the function itself has used for it, else those of the collective.
        """
        for test in self._earlier_tests(place):
            for part in test.values if isinstance(test, ast.BoolOp) else [test]:
                text = ast.unparse(part)
                if isinstance(part, ast.Name) and part.id in {*self.imports, *self.definitions}:
                    continue  # a function that is not called: it always holds
                if _RANK_TEST.fullmatch(text) and "!=" not in text:
                    return text
        if call is not None and isinstance(call.func, ast.Attribute):
            owner = ast.unparse(call.func.value)
            if main := _MAIN.get(last_name(call.func.value)):
                return f"{owner}.{main}"
            if self.dotted(call.func).startswith(_ROOTS):
                return f"{owner}.get_rank() == 0"
        for name, meaning in self.imports.items():
            if meaning == "torch.distributed":
                return f"{name}.get_rank() == 0"
        if self.imports.get("torch") == "torch":
            return "torch.distributed.get_rank() == 0"
        return ""

    def _earlier_tests(self, place: ast.stmt) -> Iterator[ast.expr]:
        """The conditions that have been asked in the function on every way to a statement."""
        around: ast.AST = place
        while isinstance(around, ast.stmt) and around in self.places:
            block, index = self.places[around].block, self.places[around].index
            for earlier in reversed(block[:index]):
                if isinstance(earlier, ast.If):
                    yield earlier.test
            around = self.parents[around]
            if isinstance(around, ast.ExceptHandler):
                around = self.parents[around]
            if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
                return

    def rank_guard(self, node: ast.AST) -> str:
        """What may keep ranks from a node already: a test, an exit, a context, a decorator."""
        child = node
        for above in self.ancestors(node):
            if isinstance(child, ast.stmt) and child in self.places:
                place = self.places[child]
                for earlier in place.block[: place.index]:
                    if leaves(earlier) and RANK_WORDS.search(ast.unparse(earlier.test)):
                        return "behind an exit of some ranks"
            if isinstance(above, ast.If | ast.While | ast.IfExp) and child is not above.test:
                if RANK_WORDS.search(ast.unparse(above.test)):
                    return "behind a rank test"
            if isinstance(above, ast.For) and RANK_WORDS.search(ast.unparse(above.iter)):
                return "behind a rank test"
            if isinstance(above, ast.With) and any(
                RANK_WORDS.search(ast.unparse(item.context_expr)) for item in above.items
            ):
                return "in a context of some ranks"
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                RANK_WORDS.search(ast.unparse(each)) for each in above.decorator_list
            ):
                return "in a function for some ranks"
            child = above
        return ""

    def unusual(self, node: ast.AST) -> str:
        """Why ranks do not come to a node together in a run of several, if so."""
        child = node
        for above in self.ancestors(node):
            if isinstance(above, ast.ExceptHandler):
                return "runs after an exception"
            if isinstance(above, ast.If):
                test = ast.unparse(above.test)
                is_body = child in above.body
                is_no = test.startswith("not ") and _MANY.search(test)
                if is_body and (_ONE_PROCESS.search(test) or is_no or test in ("False", "0")):
                    return "for one process"
                if not is_body and child in above.orelse and _MANY.search(test) and not is_no:
                    return "for one process"
            if isinstance(child, ast.stmt) and child in self.places:
                place = self.places[child]
                if any(
                    isinstance(each, ast.Return | ast.Raise) for each in place.block[: place.index]
                ):
                    return "is never reached"
            if isinstance(above, ast.FunctionDef) and above.name.startswith("test"):
                return "is a test"
            child = above
        return ""

    # -- edits

    def indent(self, statement: ast.stmt) -> str:
        line: str = self.lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    @cached_property
    def step(self) -> str:
        """One level of indentation."""
        for node in ast.walk(self.tree):
            for block in blocks(node):
                if node is not self.tree and self.is_alone(block[0]):
                    row = getattr(node, "lineno", 1)
                    inner, outer = self.indent(block[0]), self.lines[row - 1]
                    outer = outer[: len(outer) - len(outer.lstrip())]
                    if len(inner) > len(outer):
                        return inner[len(outer) :]
        return "    "

    def rows(self, *statements: ast.stmt) -> list[str]:
        """The lines of statements that follow one another."""
        return self.lines[statements[0].lineno - 1 : statements[-1].end_lineno]

    def replaced(self, first: ast.stmt, last: ast.stmt, rows: list[str]) -> str:
        """The text with other lines for the statements from one to another."""
        before = self.lines[: first.lineno - 1]
        return "".join([*before, *rows, *self.lines[last.end_lineno or 0 :]])

    def inserted(self, before: ast.stmt, *rows: str) -> str:
        """The text with lines before a statement, indented like it."""
        indent = self.indent(before)
        return self.replaced(
            before, before, [*(f"{indent}{row}\n" for row in rows), *self.rows(before)]
        )

    def deeper(self, *statements: ast.stmt) -> list[str] | None:
        """The lines of statements, one level deeper; None if a string would change by that."""
        for statement in statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                    if node.lineno != node.end_lineno:
                        return None
        return [f"{self.step}{row}" if row.strip() else row for row in self.rows(*statements)]

    def without(self, statement: ast.stmt) -> str:
        """The text with ``pass`` in place of a statement."""
        return self.replaced(statement, statement, [f"{self.indent(statement)}pass\n"])

    def with_node(self, node: ast.expr, text: str) -> str:
        """The text with other words for an expression."""
        start, end = self.offset(node.lineno, node.col_offset), self.end(node)
        data = self.text.encode()
        return (data[:start] + text.encode() + data[end:]).decode()

    def end(self, node: ast.expr) -> int:
        return self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def offset(self, row: int, column: int) -> int:
        """The offset in bytes of a row and column of the tree."""
        return self._starts[row - 1] + column

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line.encode()))
        return starts

    def without_keyword(self, call: ast.Call, name: str) -> str:
        """The text without a keyword argument of a call."""
        keyword = next(each for each in call.keywords if each.arg == name)
        data = self.text.encode()
        start = self.offset(keyword.lineno, keyword.col_offset)
        end = self.end(keyword.value)
        closing = self.end(call) - 1
        behind = re.match(rb"\s*\)?\s*,[ \t]*", data[end:closing])
        if behind:
            end += behind.end()
        else:
            ahead = re.search(rb",\s*$", data[:start])
            start = ahead.start() if ahead else start
        return (data[:start] + data[end:]).decode()


def blocks(node: ast.AST) -> Iterator[Statements]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            yield block


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def names_in(*nodes: ast.AST) -> set[str]:
    """The variables that nodes mention."""
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module that are not in a function or class inside of it."""
    stack = list(ast.iter_child_nodes(node))
    while stack:
        item = stack.pop()
        yield item
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(ast.iter_child_nodes(item))


def leaves(statement: ast.stmt) -> TypeGuard[ast.If | ast.Assert]:
    """Is it a branch that ends in an exit, or an assertion?"""
    if isinstance(statement, ast.Assert):
        return True
    exits = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    return isinstance(statement, ast.If) and any(
        block and isinstance(block[-1], exits) for block in (statement.body, statement.orelse)
    )
