"""Shell scripts: the commands and variables in them, with the offset of every word.

A value is known when it is written out, or comes from a variable that the script sets just once and
always. Whatever depends on arguments, the environment or another command is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from distlint.source.settings.shell_functions import Functions, array_in, arrays_of, below
from distlint.source.settings.values import Comment

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Form = Literal["export", "prefix", "variable", "env", "python", "image", "option"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command; ``text`` is None when it is only known at run time."""

    text: str | None
    start: int
    end: int
    raw: str = ""
    splits: bool = False
    """May it become no word or several: an expansion without quotes?"""
    expanded: bool = False
    """Is it one of those that an expansion became? Then all of them have its place."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that is set; ``start`` and ``end`` are those of ``NAME=value``."""

    name: str
    value: str | None
    form: Form
    start: int
    end: int
    name_start: int
    name_end: int
    value_start: int
    value_end: int
    statement: tuple[int, int] = (0, 0)
    """The whole statement, if the setting is all there is in it; else an empty stretch."""
    always: bool = True
    """Is it set whenever the script runs, rather than under a condition?"""


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command with the variables that it is given alone and those exported before."""

    words: tuple[Word, ...]
    start: int
    end: int
    given: tuple[Setting, ...] = ()
    environment: tuple[Setting, ...] = ()


@dataclass(slots=True)
class Script:
    """What is in a shell script, or in a piece of one."""

    settings: list[Setting] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    statements: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of shell inside another document: its text, and the offset of each character."""

    text: str
    offsets: tuple[int, ...]

    @classmethod
    def whole(cls, text: str) -> Piece:
        return cls(text, tuple(range(len(text) + 1)))


def read(piece: Piece, outside: tuple[Setting, ...] = ()) -> Script:
    """Read a piece; ``outside`` are the variables that the document around it sets."""
    return _Reader(piece, outside).script()


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


_BRANCHES = frozenset(
    {
        "if_statement",
        "case_statement",
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "function_definition",
        "list",
        "subshell",
        "command_substitution",
        "process_substitution",
    }
)
_DYNAMIC = frozenset({"read", "getopts", "mapfile", "readarray", "eval", "source", ".", "shift"})


class _Reader:
    def __init__(self, piece: Piece, outside: tuple[Setting, ...]) -> None:
        self.piece = piece
        self.data = piece.text.encode("utf-8", "surrogatepass")
        self.result = Script()
        self.outside = outside
        self.exported: list[Setting] = list(outside)
        self._columns = _offsets(piece)
        self.root = _parser().parse(self.data).root_node
        self._nodes = [self.root, *below(self.root)]
        self._assigned: list[tuple[Node, bool]] = []
        self._depth = 0
        self._functions: Functions | None = None
        self.constants = self._constants()
        self._arrays = arrays_of(self._assigned, self._source)

    def script(self) -> Script:
        self._walk(self.root, branch=False)
        return self.result

    def _constants(self) -> dict[str, str]:
        """Variables that are set once, always, to what is written out."""
        counts: dict[str, int] = {}
        always: dict[str, tuple[Node, bool]] = {}
        stack: list[tuple[Node, bool]] = [(self.root, False)]
        while stack:
            node, branch = stack.pop()
            if node.type == "variable_assignment":
                name = self._source(node.child_by_field_name("name"))
                counts[name] = counts.get(name, 0) + 1
                prefix = node.parent is not None and node.parent.type == "command"
                always[name] = (node, not branch and not prefix)
                self._assigned.append(always[name])
            elif node.type == "for_statement":
                name = self._source(node.child_by_field_name("variable"))
                counts[name] = counts.get(name, 0) + 2
            elif node.type == "command":
                words = [self._source(child) for child in node.named_children]
                if words and words[0] in _DYNAMIC:
                    for word in words[1:]:
                        counts[word] = counts.get(word, 0) + 2
            inner = branch or node.type in _BRANCHES
            stack.extend((child, inner) for child in node.named_children)
        self._functions = Functions(self._nodes, counts, self._source)
        self.constants = {s.name: s.value for s in self.outside if s.value is not None}
        found = dict(self.constants)
        for name, (node, sure) in sorted(always.items(), key=lambda each: each[1][0].start_byte):
            found.pop(name, None)
            if sure and counts[name] == 1:
                value = self._text(node.child_by_field_name("value"))
                if value is not None and b"+=" not in self.data[node.start_byte : node.end_byte]:
                    found[name] = value
            self.constants = found
        return found

    def _walk(self, node: Node, *, branch: bool) -> None:
        stack: list[tuple[Node, bool]] = [(node, branch)]
        while stack:
            node, branch = stack.pop()
            kind = node.type
            if kind == "comment":
                self.result.comments.append(Comment(*self._bounds(node)))
                continue
            if kind == "command":
                self._command(node, branch)
            elif kind == "declaration_command":
                self._declaration(node, branch)
            elif kind == "variable_assignment":
                self._assignment(node, branch)
                self.result.statements.append(self._bounds(node))
            if kind in ("variable_assignment", "command", "declaration_command"):
                inner = [c for c in _below(node) if c.type in _SUBSTITUTIONS]
                stack.extend((child, True) for child in reversed(inner))
                continue
            inside = branch or kind in _BRANCHES
            stack.extend((child, inside) for child in reversed(node.named_children))

    def _declaration(self, node: Node, branch: bool) -> None:
        word = self._source(node.children[0])
        assigned = [c for c in node.named_children if c.type == "variable_assignment"]
        alone = len(node.named_children) == 1
        bounds = self._bounds(node)
        self.result.statements.append(bounds)
        exports = word == "export" or (
            word in ("declare", "typeset") and "-x" in self._source(node)
        )
        for each in assigned:
            setting = self._setting(
                each, "export" if exports else "variable", bounds if alone else (0, 0), branch
            )
            self.result.settings.append(setting)
            if exports:
                self._export(setting)
        for each in node.named_children:
            if exports and each.type == "variable_name":
                self._export_known(self._source(each))

    def _export(self, setting: Setting) -> None:
        self.exported = [s for s in self.exported if s.name != setting.name]
        self.exported.append(setting)

    def _export_known(self, name: str) -> None:
        """``export NAME`` behind ``NAME=value``."""
        for index, setting in enumerate(self.result.settings):
            if setting.name == name and setting.form == "variable":
                changed = Setting(
                    **{
                        field: getattr(setting, field)
                        for field in Setting.__dataclass_fields__
                        if field != "form"
                    },
                    form="export",
                )
                self.result.settings[index] = changed
                self._export(changed)

    def _assignment(self, node: Node, branch: bool) -> None:
        setting = self._setting(node, "variable", self._bounds(node), branch)
        known = next((s for s in self.exported if s.name == setting.name), None)
        if known is not None and known not in self.outside:  # exported before, so this is, too
            setting = self._setting(node, "export", self._bounds(node), branch)
            self._export(setting)
        self.result.settings.append(setting)

    def _setting(self, node: Node, form: Form, statement: tuple[int, int], branch: bool) -> Setting:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        start, end = self._bounds(node)
        name_start, name_end = self._bounds(name) if name is not None else (start, start)
        value_start, value_end = self._bounds(value) if value is not None else (end, end)
        appended = b"+=" in self.data[node.start_byte : node.end_byte].split(b"$")[0]
        return Setting(
            name=self._source(name),
            value=None if appended else self._text(value) if value is not None else "",
            form=form,
            start=start,
            end=end,
            name_start=name_start,
            name_end=name_end,
            value_start=value_start,
            value_end=value_end,
            statement=statement,
            always=not branch,
        )

    def _command(self, node: Node, branch: bool) -> None:
        bounds = self._bounds(node)
        self.result.statements.append(bounds)
        given: list[Setting] = []
        words: list[Word] = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                given.append(self._setting(child, "prefix", (0, 0), branch))
            elif child.type not in _NO_WORDS:
                words.extend(self._words(child))
        if words and words[0].text == "env":
            given += self._env(words)
        self.result.settings += given
        if words:
            self.result.commands.append(
                Command(tuple(words), *bounds, tuple(given), tuple(self.exported))
            )

    def _env(self, words: list[Word]) -> Iterator[Setting]:
        """``env NAME=value command``: takes what belongs to ``env`` off the words."""
        index = 1
        found = []
        while index < len(words):
            name, equals, _ = words[index].raw.partition("=")
            if equals and name.isidentifier():
                word = words[index]
                text = word.text
                at = word.start + len(name)
                found.append(
                    Setting(
                        name,
                        None if text is None else text.partition("=")[2],
                        "env",
                        word.start,
                        word.end,
                        word.start,
                        at,
                        at + 1,
                        word.end,
                    )
                )
            elif not words[index].raw.startswith("-"):
                break
            index += 1
        del words[:index]
        return iter(found)

    def _words(self, node: Node) -> list[Word]:
        """What the shell makes of a word: an expansion without quotes is cut at its blanks."""
        start, end = self._bounds(node)
        items = self._arrays.get(array_in(node, self._source) or "")
        if items is not None:
            return [self._item(each, start, end) for each in items]
        text = self._text(node)
        splits = node.type in _EXPANSIONS or (
            node.type == "command_name" and any(c.type in _EXPANSIONS for c in node.named_children)
        )
        parts = text.split() if splits and text is not None else ()
        if parts:
            return [Word(part, start, end, part, expanded=True) for part in parts]
        # an empty variable is a blank to be filled in
        return [Word(None if splits else text, start, end, self._source(node), splits)]

    def _item(self, node: Node | None, start: int, end: int) -> Word:
        """An item of an array, which has the place of what stands for all of them."""
        text = self._text(node) if node is not None else None
        splits = node is None or (text is None and node.type in _EXPANSIONS)
        return Word(text, start, end, self._source(node) or "$", splits, expanded=True)

    def _value(self, name: str, at: Node) -> str | None:
        """What a variable holds at a place, if that is known."""
        node = self._functions.value(name, at) if self._functions is not None else None
        if node is None or self._depth == _DEPTH:
            return self.constants.get(name)
        self._depth += 1
        found = self._text(node)
        self._depth -= 1
        return found

    def _text(self, node: Node | None) -> str | None:
        """The value of a word, if it is known."""
        if node is None:
            return ""
        kind = node.type
        source = self._source(node)
        if kind in ("word", "number", "string_content", "test_operator", "regex"):
            return _unescaped(source, quoted=kind == "string_content")
        if kind == "raw_string":
            return source[1:-1]
        if kind == "simple_expansion":
            return self._value(source[1:], node)
        if kind == "expansion":
            name = source[2:-1]
            is_name = name.isidentifier() or name.isdecimal()
            return self._value(name, node) if is_name else None
        if kind in ("string", "concatenation", "command_name"):
            return self._joined(node)
        return None

    def _joined(self, node: Node) -> str | None:
        parts = []
        at = node.start_byte + (1 if node.type == "string" else 0)
        for child in node.named_children:
            if child.start_byte > at and node.type == "string":  # white space is no node
                parts.append(self.data[at : child.start_byte].decode("utf-8", "replace"))
            text = self._text(child)
            if text is None:
                return None
            parts.append(text)
            at = child.end_byte
        end = node.end_byte - (1 if node.type == "string" else 0)
        if at < end:
            parts.append(self.data[at:end].decode("utf-8", "replace"))
        return "".join(parts)

    def _source(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _bounds(self, node: Node) -> tuple[int, int]:
        """Offsets in the document, where what follows in the piece may stand somewhere else."""
        start, end = self._columns[node.start_byte], self._columns[node.end_byte]
        if node.end_byte > node.start_byte:
            before = self._columns[node.end_byte - 1]
            if not before < end <= before + _LONGEST:
                end = before + 1
        return start, end


_DEPTH = 4
"""Through how many functions a value is followed."""

_LONGEST = 2
"""How many characters of a document one of a piece takes: an escape has two."""

_NO_WORDS = frozenset(
    {"file_redirect", "herestring_redirect", "heredoc_redirect", "comment", "heredoc_body"}
)
_EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})


def _below(node: Node) -> Iterator[Node]:
    stack = list(node.named_children)
    while stack:
        child = stack.pop()
        yield child
        if child.type not in _SUBSTITUTIONS:
            stack.extend(child.named_children)


def _offsets(piece: Piece) -> list[int]:
    """For each byte of the text, the offset in the document of the character it belongs to."""
    if piece.text.isascii():
        return list(piece.offsets)
    found: list[int] = []
    for character, offset in zip(piece.text, piece.offsets, strict=False):
        found += [offset] * len(character.encode("utf-8", "surrogatepass"))
    found.append(piece.offsets[-1])
    return found


def _unescaped(text: str, *, quoted: bool) -> str:
    if "\\" not in text:
        return text
    parts = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            following = text[at + 1]
            if following == "\n":
                at += 2
                continue
            if not quoted or following in '"\\$`':
                parts.append(following)
                at += 2
                continue
        parts.append(text[at])
        at += 1
    return "".join(parts)
