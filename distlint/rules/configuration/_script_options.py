"""Which options the parser of a script accepts, where its text says so beyond doubt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from distlint.source.nesting import examine

_OTHER_READERS = re.compile(
    r"parse_known|parse_intermixed|HfArgumentParser|sys\.argv|REMAINDER|add_argparse_args"
    r"|add_config_arguments"
)
"""What else takes options, or leaves the unknown ones alone."""

_IMPORTED_PARSER = re.compile(
    r"(?m)^from ([\w.]+) import [\w, ]*?\b(\w*(?:args|arguments|parser|options|opts)\w*)"
)
"""``from options import parse_args``"""

_HARMLESS = frozenset(
    {
        "prog",
        "usage",
        "description",
        "epilog",
        "formatter_class",
        "add_help",
        "allow_abbrev",
        "conflict_handler",
        "argument_default",
    }
)
"""Arguments of a parser that give it no options, unlike ``parents``."""

_OF_PARSERS = frozenset(
    {
        "add_argument",
        "add_argument_group",
        "add_mutually_exclusive_group",
        "parse_args",
        "print_help",
        "format_help",
        "print_usage",
        "error",
        "exit",
        "set_defaults",
        "get_default",
    }
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a script's only parser; they may be abbreviated, as argparse allows."""

    names: frozenset[str]
    abbreviated: bool = True

    def accept(self, name: str) -> bool:
        """Does the parser know an option, ``--epochs``, or is it the beginning of one?"""
        if name in self.names:
            return True
        return self.abbreviated and any(known.startswith(name) for known in self.names)


def import_of_parser(text: str) -> tuple[str, str] | None:
    """The module and the name of what a script imports and calls for its options, if it does."""
    if "ArgumentParser(" in text or _OTHER_READERS.search(text):
        return None
    found = _IMPORTED_PARSER.findall(text)
    return found[0] if len(found) == 1 else None


def makes_parser(text: str, function: str) -> bool:
    """Is there a function of this name that makes or uses a parser?"""
    found = re.search(rf"(?m)^def {re.escape(function)}\(.*(?:\n(?:[ \t].*)?)*", text)
    return found is not None and ("ArgumentParser(" in found[0] or "parse_args()" in found[0])


def options_of(text: str) -> Options | None:
    """The options that a script accepts; None where others may be accepted, too."""
    if _OTHER_READERS.search(text) or text.count("ArgumentParser(") != 1:
        return None
    if "parse_args()" not in text or examine(text).excess is not None:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    parser = _parser_of(tree)
    if parser is None or not _stays_in_file(tree, parser):
        return None
    names = {"-h", "--help"}
    for call in _calls(tree, "add_argument"):
        texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
        if len(texts) < len(call.args) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        names |= {each for each in texts if isinstance(each, str)}
    return Options(frozenset(names), "allow_abbrev" not in text)


def _parser_of(tree: ast.Module) -> str | None:
    """The variable of the parser that a script makes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = node.value.func
            name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
            target = node.targets[0]
            if name == "ArgumentParser" and isinstance(target, ast.Name):
                harmless = all(each.arg in _HARMLESS for each in node.value.keywords)
                return target.id if harmless else None
    return None


def _stays_in_file(tree: ast.Module, parser: str) -> bool:
    """Is the parser given to no function of another file, which may add options to it?"""
    own = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is(node.value, parser):
            if node.attr not in _OF_PARSERS:
                return False
        elif isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            name = node.func.id if isinstance(node.func, ast.Name) else None
            if any(_is(each, parser) for each in given) and name not in own:
                return False
    return True


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _calls(tree: ast.Module, method: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == method:
                yield node
