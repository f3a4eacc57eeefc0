"""The buffer of a collective that nothing refers to, so that the result is lost; or a list."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.collectives._issued import Issued, is_rank_test

_KINDS = frozenset({"all_reduce", "reduce", "broadcast", "broadcast_object_list"})
"""Collectives whose result replaces what was given to them."""

_SENDS = frozenset({"broadcast", "broadcast_object_list"})
_COPIES = frozenset(
    {"sum", "mean", "max", "min", "norm", "float", "double", "half", "bfloat16", "long"}
)
_KEEP = frozenset(
    {"to", "cuda", "cpu", "detach", "view", "reshape", "squeeze", "unsqueeze", "flatten"}
    | {"contiguous"}
)
"""Methods whose result may share the memory of what they are called on."""

_MAKERS = frozenset(f"torch.{name}" for name in ("tensor", "stack", "cat", "sum", "mean"))


def is_given_list(use: Issued) -> bool:
    """Is a collective of torch given a list where it takes a tensor?"""
    tensor = use.argument("tensor")
    if tensor is None or use.unclear or use.inner or use.row.payload != "tensor":
        return False
    objects = objects_across(use.names.module, use.names.catalogue)
    origins = objects.origins(tensor, Point(use.scope, use.around))
    return (
        use.row.name.startswith("torch.distributed.")
        and bool(origins)
        and all(
            isinstance(each.node, (ir.Display, ir.Comprehension))
            and each.node.kind in ("list", "tuple")
            and (each.item, each.attributes) == (None, ())
            for each in origins
        )
    )


def is_lost(use: Issued) -> bool:
    """Is the result left in a temporary that was made from what the ranks have?

    What is made of constants or of the rank is reduced for the meeting, and what is cloned on
    purpose. The source of a broadcast needs no result.
    """
    buffer = use.buffer
    if buffer is None or not isinstance(use.statement, ir.Evaluate):
        return False
    if use.op not in _KINDS or not _is_temporary(buffer, use) or _is_of_some_ranks(use):
        return False
    data = list(_data(buffer, use))
    return bool(data) and not any("rank" in token for path in data for token in path)


def _is_of_some_ranks(use: Issued) -> bool:
    """Are there tests of the rank around it, or, for a broadcast, anywhere in its function?"""
    owners = [here.owner for here in use.around]
    if use.op in _SENDS:
        owners += [statement for statement, _ in placed(use.scope.body)]
    return any(isinstance(each, ir.If) and is_rank_test(each.test) for each in owners)


def _is_temporary(node: ir.Expr, use: Issued) -> bool:
    """Does an expression make a new tensor, or list, whenever it is evaluated?"""
    if isinstance(node, (ir.Binary, ir.Unary)):
        return True
    if isinstance(node, ir.Display):
        return use.op == "broadcast_object_list"
    if not isinstance(node, ir.Call):
        return False
    if _dotted(node, use) is not None:
        return _dotted(node, use) in _MAKERS
    if not isinstance(node.func, ir.Attribute):
        return path_of(node.func) == ("sum",)
    return node.func.attr in _COPIES or (
        node.func.attr in _KEEP and _is_temporary(node.func.value, use)
    )


def _data(node: ir.Expr, use: Issued) -> Iterator[tuple[str, ...]]:
    """The variables that a temporary is made from."""
    path = path_of(node)
    if path is not None:
        yield path
    elif isinstance(node, ir.Call):
        is_made = _dotted(node, use) is not None
        if isinstance(node.func, ir.Attribute) and not is_made:
            yield from _data(node.func.value, use)
        elif not is_made or _dotted(node, use) in _MAKERS:
            for argument in node.args:
                if argument.keyword is None:
                    yield from _data(argument.value, use)
    else:
        for child in ir.children(node):
            if isinstance(child, ir.Expr):
                yield from _data(child, use)


def _dotted(call: ir.Call, use: Issued) -> str | None:
    return use.names.dotted(call.func, use.scope)
