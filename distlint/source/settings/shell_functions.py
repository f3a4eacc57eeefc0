"""Functions and arrays in shell scripts: what is known of their parameters, variables and items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION = "function_definition"
_MOVES = frozenset({"shift", "set", "getopts"})
"""Commands after which ``$1`` is another one."""


class Functions:
    """The functions of a script that know more than the script: they are called once."""

    def __init__(
        self, nodes: list[Node], counts: Mapping[str, int], source: Callable[[Node | None], str]
    ) -> None:
        self._source = source
        self._calls: dict[str, list[Node]] = defaultdict(list)
        self._defined: dict[str, list[Node]] = defaultdict(list)
        self._moved: set[int] = set()
        self._locals: dict[tuple[int, str], Node] = {}
        for node in nodes:
            if node.type == "command":
                name = source(node.child_by_field_name("name"))
                self._calls[name].append(node)
                function = function_around(node)
                if name in _MOVES and function is not None:
                    self._moved.add(function.id)
            elif node.type == _FUNCTION:
                self._defined[source(node.child_by_field_name("name"))].append(node)
            elif node.type == "variable_assignment":
                self._local(node, counts)

    def _local(self, node: Node, counts: Mapping[str, int]) -> None:
        """Keep a variable that is set once, by a statement of the function's body itself."""
        name, function = self._source(node.child_by_field_name("name")), function_around(node)
        statement = node.parent
        if statement is not None and statement.type == "declaration_command":
            statement = statement.parent
        if function is None or statement is None or counts.get(name) != 1:
            return
        if statement.type == "compound_statement" and statement.parent == function:
            self._locals[function.id, name] = node

    def value(self, name: str, at: Node) -> Node | None:
        """What a variable or a parameter of the function around a node holds there."""
        function = function_around(at)
        if function is None:
            return None
        if name.isdecimal():
            return self._argument(function, int(name))
        found = self._locals.get((function.id, name))
        if found is None or found.start_byte >= at.start_byte:
            return None
        return found.child_by_field_name("value")

    def _argument(self, function: Node, index: int) -> Node | None:
        name = self._source(function.child_by_field_name("name"))
        calls = self._calls[name]
        if len(calls) != 1 or len(self._defined[name]) != 1 or function.id in self._moved:
            return None
        arguments = calls[0].children_by_field_name("argument")
        if function_around(calls[0]) == function or not 0 < index <= len(arguments):
            return None
        before = arguments[:index]
        return None if any(map(_may_split, before)) else before[-1]


def function_around(node: Node) -> Node | None:
    """The function that a node is in."""
    parent = node.parent
    while parent is not None and parent.type != _FUNCTION:
        parent = parent.parent
    return parent


def _may_split(node: Node) -> bool:
    """May a word become several?"""
    return node.type == "expansion" or any(c.type == "subscript" for c in below(node))


def below(node: Node) -> Iterator[Node]:
    """All nodes in a node."""
    stack = list(node.named_children)
    while stack:
        child = stack.pop()
        yield child
        stack.extend(child.named_children)


def array_in(node: Node, source: Callable[[Node | None], str]) -> str | None:
    """The name of an array of which a word is all items: ``"${ARGS[@]}"``."""
    if node.type == "string":
        inner = node.named_children
        if len(inner) != 1 or inner[0].end_byte - inner[0].start_byte != (
            node.end_byte - node.start_byte - 2
        ):
            return None
        node = inner[0]
    if node.type != "expansion" or len(node.named_children) != 1:
        return None
    subscript = node.named_children[0]
    name = source(subscript.child_by_field_name("name"))
    is_plain = source(node) in (f"${{{name}[@]}}", f"${{{name}[*]}}")
    return name if subscript.type == "subscript" and is_plain else None


def arrays_of(
    assigned: list[tuple[Node, bool]], source: Callable[[Node | None], str]
) -> dict[str, list[Node | None]]:
    """The items of each array, in order; None for what is added under a condition, if it is.

    ``assigned`` are the assignments of a script, with whether each is made for certain.
    """
    found: dict[str, list[Node | None]] = {}
    unknown: set[str] = set()
    for node, sure in sorted(assigned, key=lambda each: each[0].start_byte):
        written, value = source(node.child_by_field_name("name")), node.child_by_field_name("value")
        name = written.partition("[")[0]  # of one item
        is_added = source(node)[len(name) :].startswith("+=")
        if value is None or value.type != "array" or (not is_added and (name in found or not sure)):
            unknown.add(name)
        else:
            items = list(value.named_children)
            found.setdefault(name, []).extend(items if sure else [None])
    return {name: items for name, items in found.items() if name not in unknown}
