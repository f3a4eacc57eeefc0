"""What an expression is worth on one rank.

Evaluation may stop with an exception: :class:`BranchUndecided` (a condition has to be decided
first), :class:`CollectiveReached` (a collective is due) or :class:`CallRequested` (a function of
the project runs first). The statement is then evaluated again once that has happened; finished
calls are remembered in ``results``, so nothing runs twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

from distlint.analyzer import ir
from distlint.analyzer.symbolic import strides
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import DATA_LOADER, DEVICE_MESH
from distlint.analyzer.symbolic.resolution import NameResolver
from distlint.analyzer.symbolic.state import CallRequested, CollectiveReached, Key
from distlint.analyzer.symbolic.values import (
    SAME,
    SELDOM_UNEVEN,
    UNEVEN,
    Const,
    Unknown,
    Value,
    const,
    unknown,
)
from distlint.analyzer.symbolic.view import JOINED, RISKY

LOOP_BOUND = 2
"""Iterations that are executed of a loop whose count is not known."""

EXACT_BOUND = 16
"""Iterations that are executed of a loop whose count is known."""

_MASKS = frozenset({"==", "<", ">=", "not", "&", "|", "~", "both", "either"})
"""Operators that make the mask of a selection."""


class Expressions(NameResolver):
    """The expression part of a machine."""

    # ---- expressions

    def evaluate(self, node: ir.Expr) -> Value:
        self.evaluated += 1
        return _EVALUATE[type(node)](self, node)

    def ev_literal(self, node: ir.Literal) -> Value:
        return const(node.value)

    def ev_name(self, node: ir.Name) -> Value:
        return self.name(node.id)

    # ---- operators

    def ev_binary(self, node: ir.Binary) -> Value:
        return v.binary(node.op, self.evaluate(node.left), self.evaluate(node.right), self.cluster)

    def ev_compare(self, node: ir.Compare) -> Value:
        left = self.evaluate(node.left)
        result: Value | None = None
        for op, right_node in zip(node.ops, node.rights, strict=True):
            right = self.evaluate(right_node)
            one = self.compare(op, left, right)
            result = one if result is None else self.both(result, one)
            left = right
        assert result is not None
        self.note_test(node, result)
        return result

    def note_test(self, node: ir.Expr, outcome: Value) -> None:
        """Note a condition with a known outcome: in another turn of a loop it may be another."""
        if not isinstance(outcome, (Unknown, v.Phi)):
            self.context.loops.note_test(node)

    def compare(self, op: str, left: Value, right: Value) -> Value:
        if op in {"in", "not in"} and isinstance(right, v.External) and right.name == "os.environ":
            if isinstance(left, Const) and self.catalogue.env(str(left.value)) is not None:
                return const(op == "in")
        if op in {"in", "not in"} and isinstance(right, v.Phi):
            then, orelse = self.compare(op, left, right.then), self.compare(op, left, right.orelse)
            return v.phi(right.test, then, orelse)
        if op in {"in", "not in"} and isinstance(right, v.Map):
            keys = v.seq("tuple", [key for key, _ in right.items])
            return v.binary(op, left, keys, self.cluster)
        if op in {"==", "!="} and isinstance(left, v.Func) and isinstance(right, Const):
            return const(op == "!=")  # a parameter that is missing, and a function of its name
        found = v.binary(op, left, right, self.cluster)
        if isinstance(found, Unknown) and not found.local:
            return self.tried(op, left, right, found)
        return found

    def tried(self, op: str, left: Value, right: Value, otherwise: Unknown) -> Value:
        """A rank beside an unknown number: what if that is one that leaves out some ranks?"""
        for rank, other in ((left, right), (right, left)):
            if not isinstance(rank, v.PerRank) or not _may_be_any(other):
                continue
            if rank.values == self.cluster.coordinates("global"):
                atom = unknown(v.TRIED, op, other)
                if op in {"in", "not in"}:
                    if rank is right or not isinstance(other, Unknown) or other.op != "range":
                        break
                    members = v.seq("list", [const(0), const(1)])
                    return v.phi(atom, v.binary(op, rank, members, self.cluster), otherwise)
                number = const(0 if op in {"==", "!=", "is", "is not"} else 1)
                sides = (rank, number) if rank is left else (number, rank)
                some = v.binary(op, sides[0], sides[1], self.cluster)
                return v.phi(atom, some, otherwise)
        return otherwise

    def both(self, left: Value, right: Value) -> Value:
        if isinstance(left, Const):
            return right if left.value else left
        if isinstance(left, v.PerRank):
            return right if left.values[self.rank] else left
        return unknown("both", left, right)

    def ev_not(self, node: ir.Not) -> Value:
        return v.negate(self.evaluate(node.value))

    def ev_unary(self, node: ir.Unary) -> Value:
        value = self.evaluate(node.value)
        if node.op == "-":
            return v.binary("-", const(0), value, self.cluster)
        return value if node.op == "+" else unknown(node.op, value)

    def ev_bool(self, node: ir.BoolOp) -> Value:
        """``and`` / ``or`` as a value: undecided operands make an undecided value."""
        *firsts, last = node.values
        stop = node.op == "or"
        for position, operand in enumerate(firsts):
            value = self.evaluate(operand)
            if isinstance(value, (Unknown, v.Phi)):
                return self.undecided_bool(node, value, position, stop)
            self.note_test(operand, value)
            if self.truth(value, node.site) == stop:
                return value
        return self.evaluate(last)

    def undecided_bool(self, node: ir.BoolOp, value: Value, position: int, stop: bool) -> Value:
        if isinstance(value, v.Phi):
            value = self.resolve(value)
        if not isinstance(value, Unknown):
            if self._truth(value) == stop:
                return value
            return self.rest_of_bool(node, position)
        test = v.tested(value)
        negated = test.op == "not"
        atom: Unknown = test.args[0] if negated else test
        if self.assumed(atom) is None:
            try:
                rest = self.rest_of_bool(node, position)
            except (CollectiveReached, CallRequested):
                self.decide(atom)
                raise
            then, orelse = (value, rest) if stop else (rest, value)
            return v.phi(atom, orelse, then) if negated else v.phi(atom, then, orelse)
        outcome = self.truth(value, node.site)
        return value if outcome == stop else self.rest_of_bool(node, position)

    def rest_of_bool(self, node: ir.BoolOp, position: int) -> Value:
        rest = node.values[position + 1 :]
        return self.evaluate(rest[0] if len(rest) == 1 else ir.BoolOp(node.op, rest, node.site))

    def test(self, node: ir.Expr, site: int) -> bool:
        """Evaluate a condition: operands from left to right, each only when it is reached."""
        if isinstance(node, ir.BoolOp):
            stop = node.op == "or"
            return next(
                (stop for operand in node.values if self.test(operand, site) == stop), not stop
            )
        if isinstance(node, ir.Not):
            return not self.test(node.value, site)
        value = self.evaluate(node)
        self.note_test(node, value)
        return self.truth(value, site)

    def ev_conditional(self, node: ir.Conditional) -> Value:
        test = self.evaluate(node.test)
        self.note_test(node.test, test)
        atom = _open_question(test)
        if atom is not None and self.assumed(atom) is None:
            try:
                then, orelse = self.evaluate(node.body), self.evaluate(node.orelse)
            except (CollectiveReached, CallRequested):
                self.decide(atom)
                raise
            found = self.chosen_by(test, then, orelse)
            if found is not None:
                return found
        return self.evaluate(node.body if self.truth(test, node.site) else node.orelse)

    def chosen_by(self, test: Value, then: Value, orelse: Value) -> Value | None:
        """One value or the other, by a condition that is open; None if that takes a decision."""
        if isinstance(test, v.Phi):
            first = self.chosen_by(test.then, then, orelse)
            second = self.chosen_by(test.orelse, then, orelse)
            return None if first is None or second is None else v.phi(test.test, first, second)
        if isinstance(test, Unknown):
            if test.op == "not":
                return v.phi(test.args[0], orelse, then)
            return v.phi(test, then, orelse)
        return (then if test.value else orelse) if isinstance(test, Const) else None

    # ---- displays, items

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
        items: list[tuple[Value, Value]] = []
        whole = True
        for key, value in zip(node.keys, node.values, strict=True):
            evaluated = self.evaluate(value)
            if key is None:
                if isinstance(evaluated, v.Map):
                    items.extend(evaluated.items)
                else:
                    whole = False
            else:
                items.append((self.evaluate(key), evaluated))
        if whole and len(items) <= EXACT_BOUND * 2:
            return v.mapping(items)
        return unknown("dict", len(items), local=any(value.local for _, value in items))

    def ev_subscript(self, node: ir.Subscript) -> Value:
        base = self.evaluate(node.value)
        if isinstance(node.index, ir.Slice):
            return self.slice(self.resolve(base), node.index)
        index = self.resolve(self.evaluate(node.index))
        return self.of_each(base, lambda each: self.stored_item(each, index))

    def stored_item(self, base: Value, index: Value) -> Value:
        stored = self.store.get((base, self.slot(index))) if isinstance(base, Unknown) else None
        return stored if stored is not None else self.subscript(base, index)

    def slot(self, index: Value) -> str:
        """The name of an item in the store: by number, as an index may be a big term."""
        return f"[{self.number('index', index)}]"

    def slice(self, base: Value, node: ir.Slice) -> Value:
        bounds = [
            self.resolve(self.evaluate(bound)) if bound is not None else const(None)
            for bound in (node.lower, node.upper, node.step)
        ]
        if any(v.is_ranked(bound) for bound in bounds):
            if isinstance(base, v.Seq):
                try:
                    lower, upper, step = (self.on_this_rank(bound) for bound in bounds)
                    return self.share(base, bounds, base.items[slice(lower, upper, step)])
                except (ValueError, TypeError):
                    pass
            # a stride leaves a remainder: some ranks get one item more
            start, stop, step = bounds
            if isinstance(start, v.PerRank) and isinstance(stop, Const):
                if not (_is_cut_for_all(base) or self.divides(step, base)):
                    self.context.refine(strides.last(start.values))
                    return unknown("shard", base, start.values, UNEVEN)
            return unknown("part", base)
        if strides.is_rounded_up(base, bounds):
            return unknown("shard", base, "contiguous", UNEVEN)
        if isinstance(base, v.Seq) and all(isinstance(bound, Const) for bound in bounds):
            lower, upper, step = (v.plain(bound) for bound in bounds)
            try:
                return v.seq(base.kind, base.items[slice(lower, upper, step)])
            except (TypeError, ValueError):
                pass
        return unknown("slice", base, *bounds)

    def divides(self, step: Value, base: Value) -> bool:
        """Has the way here made sure that a length is a multiple, as by ``while len(x) % n``?"""
        length = unknown("len", base, local=False, clean=True)
        even = v.binary("==", v.binary("%", length, step, self.cluster), const(0), self.cluster)
        return isinstance(even, Unknown) and not even.local and self.assumed(even) is True

    def share(self, base: v.Seq, bounds: list[Value], items: tuple[Value, ...]) -> Value:
        """A rank's slice of a known list: a constant per rank where the items allow it."""
        try:
            rows = v.vector(base, self.cluster.size)
            columns = [v.vector(bound, self.cluster.size) for bound in bounds]
            picked = [
                row[slice(*(column[rank] for column in columns))] for rank, row in enumerate(rows)
            ]
            return v.ranked(picked)
        except (ValueError, TypeError):
            return v.seq(base.kind, items)

    def subscript(self, base: Value, index: Value) -> Value:
        if isinstance(base, v.External) and base.name == "os.environ":
            return self.environment(index, None)
        if isinstance(base, v.Seq):
            found = self.pick(base, index)
            if found is not None:
                return found
        if isinstance(base, v.Map):
            found = self.pick_key(base, index)
            if found is not None:
                return found
        if isinstance(base, Unknown) and base.op == "changed" and isinstance(base.args[0], v.Map):
            # of the dict before, what it had by this key is all that can be left
            before, *others = base.args
            return unknown("index", self.pick_key(before, index), *others, index)
        if isinstance(base, v.PerRank) and isinstance(index, Const):
            try:
                return v.ranked([row[index.value] for row in base.values])
            except (TypeError, IndexError, KeyError):
                pass
        if isinstance(base, v.Obj):
            entry = self.catalogue.member(base.kind, "__getitem__")
            if entry is not None and entry.group is not None:
                return self.group_from(entry.group, {"": index}, base)
            if self.catalogue.subclass_of(base.kind, DEVICE_MESH):
                return v.obj(base.kind, self.number("submesh", base.oid, index), index)
        if base.local and isinstance(index, Unknown) and index.local and index.op in _MASKS:
            # how many items a mask lets through is this rank's own
            return unknown("index", base, index, UNEVEN)
        if v.is_process_id(index) and not base.local:
            return unknown("index", base, "process", clean=True)
        return unknown("index", base, index)

    def pick(self, base: v.Seq, index: Value) -> Value | None:
        try:
            if isinstance(index, Const):
                found: Value = base.items[index.value]
                return found
            if v.is_ranked(index):
                # what is for two ranks is for ranks like them in a cluster of more
                rows = [row % len(base.items) for row in v.vector(index, self.cluster.size)]
                try:
                    return v.ranked(
                        [
                            v.vector(base.items[row], self.cluster.size)[rank]
                            for rank, row in enumerate(rows)
                        ]
                    )
                except ValueError:
                    mine: Value = base.items[rows[self.rank]]
                    return mine
        except (IndexError, TypeError, ZeroDivisionError):
            pass
        return None

    def pick_key(self, base: v.Map, index: Value) -> Value | None:
        for key, value in base.items:
            if key is index:
                return value
        if v.is_ranked(index):
            try:
                mine = self.on_this_rank(index)
            except ValueError:
                return None
            for key, value in base.items:
                if isinstance(key, Const) and key.value == mine:
                    return value
        return None

    def item(self, value: Value, index: int) -> Value:
        """One item of a sequence that is unpacked."""
        if isinstance(value, v.Phi):
            return self.of_each(value, lambda each: self.item(each, index))
        if isinstance(value, v.Seq) and index < len(value.items):
            return value.items[index]
        return self.subscript(value, const(index)) if not isinstance(value, v.External) else value

    def environment(self, name: Value, default: Value | None) -> Value:
        """``os.environ[name]``: a string, per rank for the launcher's variables."""
        if not isinstance(name, Const):
            return unknown("env", name)
        assigned = self.store.get((v.external("os.environ"), str(name.value)))
        if assigned is not None:
            return assigned
        entry = self.catalogue.env(str(name.value))
        if entry is not None and entry.rank is not None:
            value = self.rank_value(entry.rank, None)
            return self.convert(str, value)
        if entry is not None and entry.uniform is not None:
            value = self.uniform_value(entry.uniform.value, unknown("env", str(name.value)))
            return self.convert(str, value)
        return unknown("env", str(name.value))

    def convert(self, function: Callable[[Any], Any], value: Value) -> Value:
        """Apply a function of one argument to every concrete part of a value."""
        try:
            if isinstance(value, Const):
                return const(function(value.value))
            if isinstance(value, v.PerRank):
                return v.ranked([function(item) for item in value.values])
            if isinstance(value, v.WorldSizeExpr):
                return v.world(function(value.value), tuple(map(function, value.samples)))
            if isinstance(value, v.Phi):
                return v.phi(
                    value.test,
                    self.convert(function, value.then),
                    self.convert(function, value.orelse),
                )
        except (TypeError, ValueError, OverflowError):
            pass
        return unknown(getattr(function, "__name__", "convert"), value)

    # ---- functions, strings, comprehensions

    def ev_lambda(self, node: ir.Lambda) -> Value:
        self.context.frames[self.frame.scope] = self.frame
        return v.func(node.function, self.frame.scope, None, ())

    def ev_format(self, node: ir.Format) -> Value:
        parts = [self.evaluate(part) for part in node.parts]
        if any(part.local for part in parts):
            return unknown("format", *parts)
        if any(v.is_ranked(part) for part in parts):
            try:
                columns = [v.vector(part, self.cluster.size) for part in parts]
                rows = [
                    "".join(str(column[rank]) for column in columns)
                    for rank in range(self.cluster.size)
                ]
                return v.ranked(rows)
            except ValueError:
                return unknown("format", *parts)
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

    def ev_comprehension(self, node: ir.Comprehension) -> Value:
        first = self.evaluate(node.clauses[0][1])
        return self.of_each(first, lambda iterable: self.comprehension(node, iterable))

    def comprehension(self, node: ir.Comprehension, iterable: Value) -> Value:
        """The value of a comprehension whose first clause goes over an iterable."""
        outer = self.inner
        outer_chosen, self.chosen = self.chosen, False
        items: list[Value] = []
        names: list[Key] = [
            (self.frame.scope, name)
            for target, _, _ in node.clauses
            for name in ir.names_bound(target)
        ]
        hidden = {key: self.store[key] for key in names if key in self.store}
        try:
            exact = self.comprehend(node, 0, items, iterable)
        finally:
            for key in names:
                self.store.pop(key, None)
            self.store.update(hidden)
            self.inner = outer
            own, self.chosen = self.chosen, outer_chosen
        if exact and node.kind in {"list", "generator", "set"} and len(items) <= EXACT_BOUND:
            return v.seq("set" if node.kind == "set" else "list", items)
        if exact and node.kind == "dict":
            pairs = [item.items for item in items if isinstance(item, v.Seq)]
            return v.mapping([(pair[0], pair[1]) for pair in pairs if len(pair) == 2])
        uneven = any(UNEVEN in getattr(item, "tokens", ()) for item in items)
        if node.kind == "dict":
            items = [part for item in items for part in getattr(item, "items", (item,))]
        if own:
            return unknown("comprehension", self.here(node.site), *items[:4], UNEVEN, local=True)
        tail = (UNEVEN,) if uneven else (v.LISTED,) if len(items) > LOOP_BOUND else ()
        return unknown("comprehension", node.site, *items[:4], *tail)

    def comprehend(
        self, node: ir.Comprehension, level: int, items: list[Value], iterable: Value
    ) -> bool:
        """Run one clause and those inside it; True if the items found are all there are."""
        target, _, tests = node.clauses[level]
        exact = self.exact_items(iterable)
        whole = exact is not None
        outer = self.inner
        for index in range(len(exact) if exact is not None else LOOP_BOUND):
            self.inner = (*outer, (node.site, level, index))
            item = (
                exact[index] if exact is not None else self.loop_item(iterable, index, self.turns())
            )
            events = len(self.results)
            kept: bool | None = True
            try:
                self.bind_target(target, item)
                kept = self.filtered(tests)
                if kept is False:
                    continue
                whole = self.inner_clause(node, level + 1, items) and whole and kept is True
            except (CollectiveReached, CallRequested):
                # only now it matters whether there is such an item at all
                if exact is None and not self.trip(iterable, index, node.site):
                    break
                if kept is None:
                    self.filter_decided(tests, node.site)
                raise
            if exact is None and len(self.results) == events:
                break
        self.inner = outer
        return whole

    def inner_clause(self, node: ir.Comprehension, level: int, items: list[Value]) -> bool:
        """Run the clause at a level for one item of those around it, or the element after all."""
        if level < len(node.clauses):
            iterable = self.resolve(self.evaluate(node.clauses[level][1]))
            return self.comprehend(node, level, items, iterable)
        items.append(self.evaluate(node.element))
        return True

    def filtered(self, tests: tuple[ir.Expr, ...]) -> bool | None:
        """Do the conditions of a clause keep the item? None if that is not known."""
        verdict: bool | None = True
        for test in tests:
            value = self.evaluate(test)
            if isinstance(value, (Unknown, v.Phi)):
                verdict = None
                self.chosen = self.chosen or (value.local and not getattr(value, "weak", False))
            elif not self._truth(value):
                return False
        return verdict

    def filter_decided(self, tests: tuple[ir.Expr, ...], site: int) -> None:
        for test in tests:
            self.test(test, site)

    def may_fail(self, site: int) -> None:
        """Note that something has been called that may raise on one rank alone."""
        self.store[RISKY] = const(True)

    # ---- iteration

    def exact_items(self, iterable: Value) -> tuple[Value, ...] | None:
        """The items of an iterable that is known to the last one and short."""
        if isinstance(iterable, v.Seq):
            return iterable.items if len(iterable.items) <= EXACT_BOUND else None
        if isinstance(iterable, v.Map):
            return tuple(key for key, _ in iterable.items)
        if isinstance(iterable, v.PerRank):
            mine = iterable.values[self.rank]
            if isinstance(mine, (tuple, range, frozenset)) and len(mine) <= EXACT_BOUND:
                self.context.refine(
                    tuple(len(row) if hasattr(row, "__len__") else row for row in iterable.values)
                )
                ordered = sorted(mine, key=repr) if isinstance(mine, frozenset) else list(mine)
                return tuple(
                    const(item) if not isinstance(item, tuple) else _lift(item) for item in ordered
                )
        if isinstance(iterable, Const) and isinstance(iterable.value, (range, tuple)):
            if len(iterable.value) <= EXACT_BOUND:
                return tuple(const(item) for item in iterable.value)
        return None

    def trip(self, iterable: Value, index: int, site: int) -> bool:
        """Does an iteration with this index take place?"""
        atom = self.trip_atom(iterable, index)
        return self.decide_at(site, atom)

    def trip_atom(self, iterable: Value, index: int) -> Unknown:
        """The unknown that says whether there is an item with this index."""
        while isinstance(iterable, Unknown) and iterable.op in {"enumerate", "item set", v.LOADER}:
            iterable = iterable.args[0]
        uneven = self.is_uneven(iterable) and JOINED not in self.store
        weak = uneven and (getattr(iterable, "weak", False) or is_seldom_uneven(iterable))
        return unknown("trip", iterable, index, local=uneven, weak=weak, clean=True)

    def is_uneven(self, iterable: Value) -> bool:
        """May the number of items differ from rank to rank?"""
        if isinstance(iterable, v.Obj):
            return "uneven" in iterable.marks
        if isinstance(iterable, v.Instance):
            return self.context.strides_by_rank(iterable.cls, self)
        if isinstance(iterable, Unknown) and iterable.op == "zip":
            parts = [self.resolve(arg) for arg in iterable.args]
            return bool(parts) and all(map(self.is_uneven, parts))
        return UNEVEN in getattr(iterable, "tokens", ())

    def loop_item(self, iterable: Value, index: int, turn: tuple[object, ...]) -> Value:
        """The item of an iteration over something unknown; ``turn`` tells it from others."""
        if isinstance(iterable, Unknown) and iterable.op == "enumerate":
            inner, start = iterable.args
            number = _number_of(inner, const(0) if v.is_ranked(start) else start, index, turn)
            if v.is_ranked(start):
                number = v.binary("+", start, number, self.cluster)
            return v.seq("tuple", [number, self.loop_item(inner, index, turn)])
        if isinstance(iterable, Unknown) and iterable.op == v.LOADER:
            return unknown("item", iterable, index, turn, local=True, fresh=True)
        start = _start_of(iterable)
        if start is not None:
            return _number_of(iterable, start, index, turn)
        if isinstance(iterable, Unknown) and iterable.op == "zip":
            return v.seq("tuple", [self.loop_item(arg, index, turn) for arg in iterable.args])
        if is_of_outputs(iterable):
            output = unknown("output", iterable, index, turn, local=True, fresh=True)
            if iterable.args[1] == "values":
                return output
            return v.seq("tuple", [unknown("name", iterable, index, turn, fresh=True), output])
        if isinstance(iterable, v.Obj) and not iterable.marks & {"sharded", "shuffle=True"}:
            if self.catalogue.subclass_of(iterable.kind, DATA_LOADER):
                return unknown("item", iterable, index, turn, SAME, fresh=True)
        own = isinstance(iterable, v.Obj) and "sharded" in iterable.marks
        own = own or UNEVEN in getattr(iterable, "tokens", ())
        return unknown("item", iterable, index, turn, local=own or None, fresh=True)

    def as_loader(self, node: ir.For | ir.Call, iterable: Value) -> Value:
        """What a loop goes over, or ``next`` is given: a loader where it is used as one."""
        function = self.frame.function
        body = self.frame.module.body if function is None else function.body
        found = self.context.effects.graph.over_batches(self.frame.module, body)
        return _loader(iterable) if node in found else iterable


_OF_ALL = re.compile("world|size|num|_count|ranks|procs|gpus|devices|total", re.IGNORECASE)


def _may_be_any(value: Value) -> bool:
    """May a number be any: not one of a turn, or one that says how many ranks there are?"""
    if not isinstance(value, Unknown) or value.local or value.fresh:
        return False
    return value.op == "range" or not any(map(_OF_ALL.search, value.tokens))


def _loader(iterable: Value) -> Value:
    if not isinstance(iterable, Unknown) or iterable.local or iterable.op in {"range", v.LOADER}:
        return iterable
    if iterable.op in {"enumerate", "zip"}:
        first, *others = iterable.args
        return unknown(iterable.op, _loader(first), *others, clean=True)
    return unknown(v.LOADER, iterable)


def _start_of(iterable: Value) -> Value | None:
    """The first number of a ``range`` of unknown length, None if ranks may start at others."""
    if not isinstance(iterable, Unknown) or iterable.op != "range":
        return None
    bounds = [arg for arg in iterable.args if arg != UNEVEN]
    start, step = (bounds[0] if len(bounds) > 1 else const(0)), bounds[2:]
    return start if v.are_uniform(start, *step) else None


def _number_of(iterable: Value, start: Value, index: int, turn: tuple[object, ...]) -> Value:
    """The number of a turn: the first is known, the second stands for all that follow."""
    if index == 0:
        return start
    counts_up = not (isinstance(iterable, Unknown) and iterable.op == "range" and iterable.args[2:])
    first = start.value if isinstance(start, Const) and type(start.value) is int else None
    lowest = const(first + index if counts_up and first is not None else None)
    return unknown("step", iterable, index, turn, lowest, fresh=True, clean=True)


def is_of_outputs(iterable: Value) -> TypeGuard[Unknown]:
    """Is it ``outputs.items()`` of a wrapped model? The names are alike, the tensors are not."""
    if not isinstance(iterable, Unknown) or iterable.op != "method":
        return False
    holder = iterable.args[0]
    is_own = isinstance(holder, Unknown) and holder.local and bool(holder.wrapped)
    return is_own and iterable.args[1] in {"items", "values"}


def _is_cut_for_all(value: Value) -> bool:
    """Has something been cut into a multiple of the world size: ``tensor_split(n * world)``?"""
    if not isinstance(value, Unknown) or value.op not in {"call", "method"} or len(value.args) < 3:
        return False
    name = value.args[value.op == "method"]
    if not isinstance(name, str) or not name.endswith(("tensor_split", "array_split")):
        return False
    return any(
        isinstance(leaf, v.WorldSizeExpr)
        or (isinstance(leaf, Unknown) and leaf.op == "*" and _holds_world(leaf.args))
        for leaf in v.leaves(value.args[2])
    )


def _holds_world(factors: tuple[object, ...]) -> bool:
    return any(
        isinstance(factor, v.WorldSizeExpr)
        or (isinstance(factor, Unknown) and any(map(_says_world_size, factor.args)))
        for factor in factors
    )


def _says_world_size(part: object) -> bool:
    return isinstance(part, str) and "world_size" in part


def is_seldom_uneven(value: Value) -> bool:
    """Do the lengths of an uneven sequence mostly turn out to be equal?"""
    return SELDOM_UNEVEN in {*getattr(value, "marks", ()), *getattr(value, "tokens", ())}


def _lift(items: Iterable[object]) -> Value:
    return v.seq("tuple", [const(item) for item in items])


def _open_question(test: Value) -> Unknown | None:
    """The unknown that a condition asks for first."""
    if isinstance(test, v.Phi):
        return test.test
    if isinstance(test, Unknown):
        return test.args[0] if test.op == "not" else test
    return None


_EVALUATE: dict[type, Callable[[Any, Any], Value]] = {
    ir.Literal: Expressions.ev_literal,
    ir.Name: Expressions.ev_name,
    ir.Attribute: Expressions.ev_attribute,
    ir.Call: lambda self, node: self.ev_call(node),
    ir.Binary: Expressions.ev_binary,
    ir.Compare: Expressions.ev_compare,
    ir.BoolOp: Expressions.ev_bool,
    ir.Not: Expressions.ev_not,
    ir.Unary: Expressions.ev_unary,
    ir.Conditional: Expressions.ev_conditional,
    ir.Display: Expressions.ev_display,
    ir.DictDisplay: Expressions.ev_dict,
    ir.Subscript: Expressions.ev_subscript,
    ir.Slice: Expressions.ev_slice,
    ir.Starred: Expressions.ev_starred,
    ir.Lambda: Expressions.ev_lambda,
    ir.Comprehension: Expressions.ev_comprehension,
    ir.Yield: Expressions.ev_yield,
    ir.Walrus: Expressions.ev_walrus,
    ir.Format: Expressions.ev_format,
    ir.Opaque: Expressions.ev_opaque,
}
