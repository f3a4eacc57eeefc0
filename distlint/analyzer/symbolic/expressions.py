"""What an expression is worth on one rank.

Evaluation may stop with an exception: :class:`BranchUndecided` (a condition has to be decided
first), :class:`CollectiveReached` (a collective is due) or :class:`CallRequested` (a function of
the project runs first). The statement is then evaluated again once that has happened; finished
calls are remembered in ``results``, so nothing runs twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.attributes import ev_attribute
from distlint.analyzer.symbolic.comprehensions import ev_comprehension
from distlint.analyzer.symbolic.conditions import ev_bool, ev_conditional
from distlint.analyzer.symbolic.iterables import EXACT_BOUND
from distlint.analyzer.symbolic.operators import ev_binary, ev_compare, ev_not, ev_unary
from distlint.analyzer.symbolic.resolution import NameResolver
from distlint.analyzer.symbolic.subscripts import ev_subscript
from distlint.analyzer.symbolic.values import Value, const, unknown


class Expressions(NameResolver):
    """The expression part of a machine."""

    def evaluate(self, node: ir.Expr) -> Value:
        self.evaluated += 1
        return _EVALUATE[type(node)](self, node)

    def ev_literal(self, node: ir.Literal) -> Value:
        return const(node.value)

    def ev_name(self, node: ir.Name) -> Value:
        return self.name(node.id)

    # ---- displays

    def ev_display(self, node: ir.Display) -> Value:
        items: list[Value] = []
        for item in node.items:
            if isinstance(item, ir.Starred):
                inner = self.resolve(self.evaluate(item.value))
                if not isinstance(inner, v.Seq):
                    return unknown("display", inner, self.here_id(node))
                items.extend(inner.items)
            else:
                items.append(self.evaluate(item))
        if len(items) > EXACT_BOUND * 2:
            return unknown("display", len(items), local=any(item.local for item in items))
        return v.seq(node.kind, items)

    def here_id(self, node: object) -> int:
        return self.number("node", id(node))

    def ev_dict(self, node: ir.DictDisplay) -> Value:
        parts: list[Value] = []
        items: list[tuple[Value, Value]] = []
        for key, value in zip(node.keys, node.values, strict=True):
            evaluated = self.evaluate(value)
            if key is not None:
                items.append((self.evaluate(key), evaluated))
            elif isinstance(evaluated, v.Map):
                items.extend(evaluated.items)
            else:
                parts += [v.mapping(items), evaluated] if items else [evaluated]
                items = []
        if len(items) > EXACT_BOUND * 2:
            return unknown("dict", len(items), *parts, local=any(item.local for _, item in items))
        return v.merged([*parts, v.mapping(items)] if items or not parts else parts)

    # ---- functions, strings

    def ev_lambda(self, node: ir.Lambda) -> Value:
        self.context.frames[self.frame.scope] = self.frame
        return v.func(node.function, self.frame.scope, None, ())

    def ev_format(self, node: ir.Format) -> Value:
        parts = [self.evaluate(part) for part in node.parts]
        if any(v.is_ranked(part) for part in parts) and not any(part.local for part in parts):
            try:
                columns = [v.vector(part, self.cluster.size) for part in parts]
                rows = ["".join(map(str, row)) for row in zip(*columns, strict=True)]
                return v.ranked(rows)
            except ValueError:
                pass
        return unknown("format", *parts)

    def ev_walrus(self, node: ir.Walrus) -> Value:
        value = self.evaluate(node.value)
        self.store[(self.frame.scope, node.target)] = value
        return value

    def ev_yield(self, node: ir.Yield) -> Value:
        if node.value is not None:
            self.evaluate(node.value)
        return unknown("sent", self.here(node.site), fresh=True)

    def ev_starred(self, node: ir.Starred) -> Value:
        return self.evaluate(node.value)

    def ev_slice(self, node: ir.Slice) -> Value:
        return unknown("slice", self.here_id(node))

    def ev_opaque(self, node: ir.Opaque) -> Value:
        return unknown("opaque", self.frame.module.key, node.site)


_EVALUATE: dict[type[ir.Expr], Callable[[Expressions, Any], Value]] = {
    ir.Literal: Expressions.ev_literal,
    ir.Name: Expressions.ev_name,
    ir.Attribute: ev_attribute,
    ir.Call: lambda machine, node: machine.ev_call(node),
    ir.Binary: ev_binary,
    ir.Compare: ev_compare,
    ir.BoolOp: ev_bool,
    ir.Not: ev_not,
    ir.Unary: ev_unary,
    ir.Conditional: ev_conditional,
    ir.Display: Expressions.ev_display,
    ir.DictDisplay: Expressions.ev_dict,
    ir.Subscript: ev_subscript,
    ir.Slice: Expressions.ev_slice,
    ir.Starred: Expressions.ev_starred,
    ir.Lambda: Expressions.ev_lambda,
    ir.Comprehension: ev_comprehension,
    ir.Yield: Expressions.ev_yield,
    ir.Walrus: Expressions.ev_walrus,
    ir.Format: Expressions.ev_format,
    ir.Opaque: Expressions.ev_opaque,
}
