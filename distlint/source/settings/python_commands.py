"""The commands that a Python script starts: lists of words, and lines in strings.

A list counts where something runs it, and where it names a launcher with options, as it may be run
by code that is not in sight. A line in a string counts only where something runs it: what names a
launcher may be a help text.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain

from distlint.source.settings.kinds import starts_launcher
from distlint.source.settings.python_names import Names, Positions, last
from distlint.source.settings.python_strings import HOLE, Part, scan, with_holes
from distlint.source.settings.shell import Command, Piece, Script, Word, read

_OF_SUBPROCESS = frozenset(
    "run Popen call check_call check_output getoutput getstatusoutput".split()
)
_LINES = frozenset({"system", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell"})
"""What runs a line by a shell."""

_WITH_PATH = re.compile(r"(?:exec|spawn)(?:v|l)")
"""What is given the program and then its words, the first of which names it once more."""

_UNMISTAKABLE = frozenset({"Popen", "check_call", "check_output", "create_subprocess_exec"})
_PERCENT = re.compile(r"%%|%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]")
_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}")
_KEEPS = frozenset(
    {"strip", "dedent", "rstrip", "lstrip", "format_map", "cleandoc", "str", "quote"}
)
_LARGE = 10**18
_DEPTH = 8


def commands_of(names: Names, nodes: Sequence[ast.AST], positions: Positions) -> Script:
    """What a script starts."""
    return _Reader(names, nodes, positions).script


class _Reader:
    def __init__(self, names: Names, nodes: Sequence[ast.AST], positions: Positions) -> None:
        self.names, self.positions = names, positions
        self.script = Script()
        self._read: set[ast.AST] = set()
        """Lists and strings that are read already."""
        self._imported = {
            alias.asname or alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module in ("subprocess", "os", "asyncio")
            for alias in node.names
        }
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        self._runners: dict[str, set[int]] = {}
        """Functions of the script that run what they are given, and which parameters these are."""
        self._find_runners(calls)
        for call in calls:
            for given, is_line in self._started(call):
                self._run(given, call, is_line=is_line)
        for node in nodes:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if len(targets) == 1 and isinstance(targets[0], ast.Name):
                    self._launch(node.value, self._whole(targets[0], node.value))
            elif isinstance(node, (ast.List, ast.Tuple, ast.BinOp)):
                self._launch(node, node)

    # ---- what runs something

    def _started(self, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
        """What a call runs, and whether it is a line for a shell."""
        if not call.args:
            return
        name, first = last(call.func), call.args[0]
        owner = last(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        is_known = (
            owner in ("subprocess", "os", "asyncio", "sp")
            or name in _UNMISTAKABLE
            or (not owner and name in self._imported)
        )
        if not is_known:
            for index in self._runners.get(name, ()):
                if index < len(call.args):
                    yield call.args[index], True
            return
        if name in _LINES:
            yield first, True
        elif name == "create_subprocess_exec":
            yield ast.copy_location(ast.Tuple(list(call.args), ast.Load()), call), False
        elif _WITH_PATH.match(name):
            yield from self._with_path(call, name)
        elif name in _OF_SUBPROCESS:
            yield first, _is_shell(call) or isinstance(first, ast.Call)

    def _with_path(self, call: ast.Call, name: str) -> Iterator[tuple[ast.expr, bool]]:
        words = call.args[(2 if name.startswith("spawn") else 1) :]
        if "v" in name:
            yield from ((each, False) for each in words[:1])
        elif words:
            yield ast.copy_location(ast.Tuple(list(words), ast.Load()), call), False

    def _find_runners(self, calls: list[ast.Call]) -> None:
        """Find these functions by their names: a method is known by its own."""
        for _ in range(2):  # one may call another
            for call in calls:
                function = self.names.function_of(call)
                if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                params = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
                is_method = params[:1] == ["self"] or params[:1] == ["cls"]
                for given, _ in self._started(call):
                    if isinstance(given, ast.Name) and given.id in params:
                        index = params.index(given.id) - is_method
                        self._runners.setdefault(function.name, set()).add(index)

    def _run(self, given: ast.expr, call: ast.Call, *, is_line: bool) -> None:
        words = self._words(given)
        bounds = self.positions.bounds(call)
        if words is not None:
            self._put(words, bounds)
        elif is_line:
            self._line(given)

    def _whole(self, target: ast.Name, value: ast.expr) -> ast.expr:
        """A name in place of the list that it holds, to which more may be added."""
        bound = self.names.bound(target)
        return target if bound is not None and bound.values == [value] else value

    def _launch(self, value: ast.expr, whole: ast.expr) -> None:
        """A list of words that names a launcher, run by code that is not in sight."""
        if value in self._read or not isinstance(value, (ast.List, ast.Tuple, ast.BinOp)):
            return
        words = self._words(whole)
        if words is None or not starts_launcher([word.text or "" for word in words[:4]]):
            return
        if any(word.raw.startswith("--") for word in words):
            self._put(words, self.positions.bounds(value))

    def _put(self, words: list[Word], bounds: tuple[int, int]) -> None:
        if words:
            self.script.commands.append(Command(tuple(words), *bounds))

    # ---- words

    def _words(self, node: ast.expr, depth: int = _DEPTH) -> list[Word] | None:
        """The words of a list; None if it is none, or is read already."""
        if not depth or node in self._read:
            return None
        if isinstance(node, (ast.List, ast.Tuple)):
            self._read.add(node)
            return list(chain.from_iterable(self._item(each, depth) for each in node.elts))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self._words(node.left, depth - 1)
            if left is None:
                return None
            self._read.add(node)
            return left + self._spread(node.right, depth)
        if isinstance(node, ast.Name):
            return self._of_name(node, depth)
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def _of_call(self, node: ast.Call, depth: int) -> list[Word] | None:
        name = last(node.func)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in ("list", "tuple", "copy"):
            inner = node.args[0] if node.args else receiver
            return self._words(inner, depth - 1) if inner is not None else None
        if name == "join" and len(node.args) == 1:
            is_blank = isinstance(receiver, ast.Constant) and receiver.value == " "
            if is_blank or (receiver is not None and last(receiver) == "shlex"):
                return self._words(node.args[0], depth - 1)
        if name == "split" and receiver is not None:
            line = node.args[0] if last(receiver) == "shlex" and node.args else receiver
            if last(receiver) == "shlex" or not node.args:
                return self._split(line)
        return None

    def _split(self, line: ast.expr) -> list[Word] | None:
        piece = self._piece(line)
        commands = read(piece).commands if piece is not None else []
        return list(commands[0].words) if len(commands) == 1 else None

    def _of_name(self, node: ast.Name, depth: int) -> list[Word] | None:
        """What the list in a variable holds in the end."""
        bound = self.names.bound(node)
        if bound is None or len(bound.values) != 1 or bound.values[0] is None:
            return None
        words = self._words(bound.values[0], depth - 1)
        if words is None:
            return None
        for change in bound.changes:
            if change.kind == "other" or change.value is None:
                words = _with_more(words, self.positions.bounds(change.value or node))
            elif change.block != bound.blocks[0]:
                words.append(self._unknown(change.value))
            elif change.kind == "append":
                words += self._item(change.value, depth)
            else:
                words += self._spread(change.value, depth)
        if any((call.lineno, call.col_offset) < bound.last for call in self._others(bound.passed)):
            words = _with_more(words, self.positions.bounds(node))
        return words

    def _others(self, calls: list[ast.Call]) -> Iterator[ast.Call]:
        """The calls that may change a list that they are given."""
        for call in calls:
            name = last(call.func)
            if name not in self._runners and not any(True for _ in self._started(call)):
                yield call

    def _spread(self, node: ast.expr, depth: int) -> list[Word]:
        words = self._words(node, depth - 1)
        return words if words is not None else [self._unknown(node)]

    def _unknown(self, node: ast.expr) -> Word:
        """Words that are not known, or none."""
        start, end = self.positions.bounds(node)
        return Word(None, start, end, HOLE, splits=True)

    def _item(self, node: ast.expr, depth: int) -> list[Word]:
        if isinstance(node, ast.Starred):
            return self._spread(node.value, depth)
        start, end = self.positions.bounds(node)
        if last(node) == "executable":  # of sys
            return [Word("python", start, end, self.positions.text[start:end])]
        parts = self._parts(node, depth)
        text = "".join(part.text for part in parts)
        if parts and parts[0].text:
            start, end = parts[0].offsets[0], parts[-1].end
        is_known = not any(part.is_hole for part in parts)
        return [Word(text if is_known else None, start, end, text)]

    # ---- lines

    def _line(self, node: ast.expr) -> None:
        """Command lines in a string."""
        piece = self._piece(node)
        if piece is None:
            return
        more = read(piece)
        self.script.commands += more.commands
        self.script.settings += [s for s in more.settings if s.form in ("prefix", "export")]

    def _piece(self, node: ast.expr) -> Piece | None:
        holder = self._holder(node)
        if holder in self._read:
            return None
        parts = self._parts(node, _DEPTH)
        if all(part.is_hole for part in parts):
            return None
        self._read.add(holder)
        text = "".join(part.text for part in parts)
        try:
            shlex.split(text)
        except ValueError:
            return None
        return Piece(text, (*chain.from_iterable(part.offsets for part in parts), parts[-1].end))

    def _holder(self, node: ast.expr) -> ast.expr:
        """The string that a name stands for."""
        for _ in range(_DEPTH):
            held = self.names.held(node) if isinstance(node, ast.Name) else None
            if held is None:
                break
            node = held
        return node

    def _parts(self, node: ast.expr, depth: int) -> list[Part]:
        """The parts of a text; what is not known is a hole."""
        found = self._known_parts(node, depth) if depth else None
        if found is not None:
            return found
        start, end = self.positions.bounds(node)
        return [Part.at(HOLE, start, end, is_hole=True)]

    def _known_parts(self, node: ast.expr, depth: int) -> list[Part] | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            if abs(node.value) >= _LARGE:  # Python refuses to print thousands of digits
                return None
            return [Part.at(str(node.value), *self.positions.bounds(node))]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = scan(self.positions.text, *self.positions.bounds(node))
            if found is not None and "".join(part.text for part in found) == node.value:
                return found
        if isinstance(node, ast.JoinedStr):
            return self._filled(node, depth)
        if isinstance(node, ast.BinOp):
            left = self._parts(node.left, depth - 1)
            if isinstance(node.op, ast.Add):
                return left + self._parts(node.right, depth - 1)
            if isinstance(node.op, ast.Mod):
                return list(with_holes(left, _PERCENT))
        if isinstance(node, ast.Name):
            held = self.names.held(node)
            return self._parts(held, depth - 1) if held is not None else None
        return self._parts_of_call(node, depth) if isinstance(node, ast.Call) else None

    def _parts_of_call(self, node: ast.Call, depth: int) -> list[Part] | None:
        name = last(node.func)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "format" and receiver is not None:
            return list(with_holes(self._parts(receiver, depth - 1), _BRACES))
        if name in _KEEPS:
            inner = node.args[0] if node.args else receiver
            return self._parts(inner, depth - 1) if inner is not None else None
        return None

    def _filled(self, node: ast.JoinedStr, depth: int) -> list[Part] | None:
        """An f-string, in which the values of constants are known."""
        found = scan(self.positions.text, *self.positions.bounds(node))
        if found is None:
            return None
        holes = [each for each in node.values if isinstance(each, ast.FormattedValue)]
        if len(holes) != sum(part.is_hole for part in found):
            return None
        values = iter(holes)
        parts: list[Part] = []
        for part in found:
            value = next(values) if part.is_hole else None
            known = None
            if value is not None and value.format_spec is None and value.conversion == -1:
                known = self._known_value(value.value, depth - 1)
            start = part.offsets[0] if part.offsets else part.end
            parts.append(part if known is None else Part.at(known, start, part.end))
        return parts

    def _known_value(self, node: ast.expr, depth: int) -> str | None:
        parts = self._known_parts(node, depth) if depth > 0 else None
        if parts is None or any(part.is_hole for part in parts):
            return None
        return "".join(part.text for part in parts)


def _is_shell(call: ast.Call) -> bool:
    return any(
        keyword.arg == "shell"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def _with_more(words: list[Word], bounds: tuple[int, int]) -> list[Word]:
    """Words with some that are not known among the options."""
    texts = [word.text or "" for word in words[:4]]
    count = next((n for n in range(1, 5) if starts_launcher(texts[:n])), 1)
    more = Word(None, *bounds, HOLE, splits=True)
    return [*words[:count], more, *words[count:]]
