"""What a collective leaves on a rank when it has been matched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.assignment import assign_place, items_with
from distlint.analyzer.symbolic.context_managers import ContextManagers
from distlint.analyzer.symbolic.continuations import RestOfBlock, ReturnToCaller
from distlint.analyzer.symbolic.state import Event, Place
from distlint.analyzer.symbolic.values import Unknown, Value, const, unknown


def shared_value(event: Event, place: Place) -> Unknown:
    """What all ranks hold after a collective, under the same name on each."""
    marks = (v.FILLED,) if event.result == "uniform_in_place" else ()
    return unknown("sync", place, *marks, fresh=True)


class CollectiveResults(ContextManagers):
    """The part of a machine that goes on after a collective."""

    def place(self, event: Event) -> Place:
        """What tells this collective from all others on the path of a rank."""
        return (event.result_key, event.module, event.frame.scope, self.it)

    def resume(self, event: Event, place: Place) -> None:
        """Go on after a collective has been matched; ``place`` names it on all ranks."""
        value = event.value if event.value is not None else const(None)
        if event.result == "uniform":
            value = shared_value(event, place)
            self.note_told(event, value)
        elif event.result == "uniform_in_place" and event.result_target is not None:
            self.synchronise(event, place)
        elif event.result == "root_only":
            value = unknown("partial", place, local=True, fresh=True)
            if event.result_target is not None and not self.is_none(event.result_target):
                assign_place(self, event.result_target, value)
        elif event.result == "local" and event.value is None:
            value = unknown("result", place, local=True, fresh=True)
        elif isinstance(value, v.Group) and value.kind == "ranks":
            # one group, from wherever each rank has made it
            value = v.group("ranks", value.detail, self.number("group", place))
        self.results[event.result_key] = value
        if event.kind == "forward":
            self.may_fail(event.site)
        if event.once is not None:
            self.store[event.once] = const(event.once_until)

    def is_none(self, target: ir.Expr) -> bool:
        """Has a rank that gets nothing given no list to be filled?"""
        return isinstance(target, ir.Name) and self.evaluate(target) == const(None)

    def synchronise(self, event: Event, place: Place) -> None:
        """The buffer of the collective holds the same on all ranks from here on."""
        assert event.result_target is not None
        payload = event.payload_value
        fresh: Value = shared_value(event, place)
        if isinstance(payload, (Unknown, v.Phi)) and payload.local:
            # every name of the buffer, in this function and in its callers
            self.replace({payload: fresh})
        for owner in _whose_buffer(payload):
            self.synchronise_buffers(owner, place)
        if isinstance(payload, v.Seq) and event.payload is event.result_target:
            items = [
                unknown("sync", place, index, fresh=True) for index in range(len(payload.items))
            ]
            fresh = v.seq(payload.kind, items)
            if event.kind == "broadcast":
                self.replace(dict(zip(payload.items, items, strict=True)))
        self.note_told(event, fresh)
        assign_place(self, event.result_target, fresh)
        self.assign_in_callers(event.result_target, fresh)

    def synchronise_buffers(self, owner: v.Instance, place: Place) -> None:
        """One of ``self.buffers()`` is the same on all ranks: a loop passes over all of them."""
        for name in self.context.shapes.buffers_of(owner.cls):
            value = self.store.get((owner.oid, name))
            if value is not None and value.local:
                self.store[owner.oid, name] = unknown("sync", place, name, fresh=True)

    def note_told(self, event: Event, value: Value) -> None:
        """Note who has sent what all ranks hold from here on."""
        if event.kind == "broadcast" and event.root is not None:
            for atom in value.atoms:
                self.context.told[atom] = (event.root, event.members)

    def assign_in_callers(self, target: ir.Expr, value: Value) -> None:
        """A buffer that came in as an argument is the caller's variable, too."""
        for item, each in items_with(target, value):
            self.assign_in_callers(item, each)
        frame, it, k = self.frame, self.it, self.k
        try:
            while isinstance(target, ir.Name) and self.frame.function is not None:
                while k is not None and not isinstance(k, ReturnToCaller):
                    k = k.next
                if k is None or not isinstance(k.next, RestOfBlock):
                    return
                argument = _argument_for(self.frame.function, target.id, k.next.statement, k.site)
                if argument is None:
                    return
                self.frame, self.it = k.caller, k.it
                assign_place(self, argument, value)
                target, k = argument, k.next
        finally:
            self.frame, self.it = frame, it

    def replace(self, replacement: Mapping[Value, Value]) -> None:
        """What the source of a broadcast sent is now known to all under a new name."""
        telling: dict[Value, Value] = {
            old: new
            for old, new in replacement.items()
            if isinstance(old, (Unknown, v.Phi)) and old.local
        }
        for key, value in list(self.store.items()):
            new = telling.get(value)
            if new is not None:
                self.store[key] = new


def _whose_buffer(payload: Value | None) -> Iterator[v.Instance]:
    """The modules of which a value is one of the buffers: ``for each in self.buffers()``."""
    for atom in payload.atoms if isinstance(payload, Unknown) else ():
        if atom.op == "call" and isinstance(atom.args[0], Unknown):
            owner, *name = atom.args[0].args
            if name == ["buffers"] and isinstance(owner, v.Instance):
                yield owner


def _argument_for(
    function: ir.Function, name: str, statement: ir.Stmt, site: int
) -> ir.Expr | None:
    """What the call at a site in a statement passes for a parameter."""
    names = [param.name for param in function.params]
    if name not in names:
        return None
    stack: list[Any] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call) and node.site == site:
            # ``self`` is not among the arguments
            position = names.index(name) - (len(names) > 0 and bool(function.owner))
            for place, argument in enumerate(node.args):
                if argument.keyword == name or (place == position and not argument.keyword):
                    return None if argument.star else argument.value
            return None
        stack.extend(ir.children(node))
    return None
