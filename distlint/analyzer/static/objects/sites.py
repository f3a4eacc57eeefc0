"""Call sites, and origins of values: an expression together with the place that it stands at."""

from __future__ import annotations

from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.reaching_definitions import Path, Point


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call, and the statement that it is part of."""

    call: ir.Call
    point: Point

    @property
    def name(self) -> str:
        """The last component of what is called: ``step`` of ``self.optimizer.step()``."""
        return ir.last_name(self.call.func)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: an expression, or a function or class of the module.

    ``item`` is the index of an item of the expression's value, None for the whole; ``ELEMENT`` is
    any item. ``attributes`` is what is taken from it: ``("module",)`` for ``DDP(net).module``.
    """

    node: ir.Expr | ir.Function | ir.Class
    point: Point
    item: int | None = None
    attributes: Path = ()

    @property
    def call(self) -> ir.Call | None:
        """The call that made the value itself, not an item or an attribute of it."""
        whole = self.item is None and not self.attributes
        return self.node if isinstance(self.node, ir.Call) and whole else None

    @property
    def constant(self) -> object:
        """The constant that the value is, else Ellipsis."""
        return self.node.value if isinstance(self.node, ir.Literal) else ...

    @property
    def site(self) -> CallSite | None:
        return CallSite(self.call, self.point) if self.call is not None else None


def is_none(node: object) -> bool:
    """Is an expression the constant None?"""
    return isinstance(node, ir.Literal) and node.value is None
