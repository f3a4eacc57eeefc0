"""Values that have been joined: what both of them come to, with nothing decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.state import CallRequested, CollectiveReached, Journal, Key
from distlint.analyzer.symbolic.values import Unknown, Value, unknown
from distlint.analyzer.symbolic.view import SIDE, View

Variables = dict[Key, Value | None]
"""What is written to variables; None is deleted."""


class Joining(View):
    """The part of a machine that goes on with several values at once."""

    def of_each(self, value: Value, function: Callable[[Value], Value]) -> Value:
        """What a function makes of each value that a joined one may be, and writes for it.

        If it calls something that has to be run, or communicates, that is done for one of them.
        """
        if not isinstance(value, v.Phi):
            return function(value)
        is_for_both = value.test.op == SIDE and self.one is None
        outcome = None if is_for_both else self.assumed(value.test)
        if outcome is not None:
            return self.of_each(value.then if outcome else value.orelse, function)
        before = self.store
        try:
            self.store = one = Journal(before)
            then = self.of_each(value.then, function)
            self.store = other = Journal(before)
            orelse = self.of_each(value.orelse, function)
        except (CollectiveReached, CallRequested):
            self.decide(value.test)
            raise
        finally:
            self.store = before
        written = {**one.written, **other.written}
        if written:
            self.write(self.joined(value.test, those(one, written), those(other, written)))
        return v.phi(value.test, then, orelse)

    def joined(self, test: Value, then: Variables, orelse: Variables) -> Variables:
        """What a branch leaves in the variables that its arms have written; None is deleted."""
        merged: Variables = {}
        for key, left in then.items():
            right = orelse[key]
            if left is not right:
                unset = self.store.get(key) or unknown(v.UNSET, str(key[1]))
                left = self.select(test, left or unset, right or unset)
            merged[key] = left
        return merged

    def write(self, variables: Variables) -> None:
        for key, value in variables.items():
            if value is None:
                self.store.pop(key, None)
            else:
                self.store[key] = value

    def select(self, test: Value, then: Value, orelse: Value) -> Value:
        """``then`` where the condition holds, else ``orelse``."""
        if isinstance(test, v.Phi):
            thens, orelses = v.where(test.test, then, then), v.where(test.test, orelse, orelse)
            ways = map(self.select, (test.then, test.orelse), thens, orelses)
            return v.phi(test.test, *ways)
        if isinstance(test, Unknown):
            if test.op == "not":
                return v.joined(test.args[0], orelse, then)
            return v.joined(test, then, orelse)
        return then if self.is_true(test) else orelse


def those(store: dict[Key, Value], keys: Iterable[Key]) -> Variables:
    """Some variables of a store; None where they are unset."""
    return {key: store.get(key) for key in keys}
