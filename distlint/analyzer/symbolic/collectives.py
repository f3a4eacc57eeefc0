"""Collectives that a rank comes to: who takes part, with which arguments, under which strategy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from distlint.analyzer import ir
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.collective_arguments import (
    agreeing,
    argument_is,
    argument_node,
    concrete_arguments,
    is_posted,
    named,
    root_of,
)
from distlint.analyzer.symbolic.communication import communicates, once_key, open_tags, under, wraps
from distlint.analyzer.symbolic.expressions import Expressions
from distlint.analyzer.symbolic.groups import group_of, rank_set
from distlint.analyzer.symbolic.state import CollectiveReached, Event, PathPruned
from distlint.analyzer.symbolic.values import Unknown, Value, const, unknown
from distlint.catalogue.entries import Entry


class Collectives(Expressions):
    """The part of a machine that meets other ranks."""

    def collective(
        self,
        entry: Entry,
        args: list[Value],
        keywords: dict[str, Value],
        node: ir.Call | None,
        site: int,
        receiver: Value | None,
        value: Value | None = None,
    ) -> Value:
        row = entry.collective
        assert row is not None
        if row.kind in {"init", "destroy"}:
            # who takes part is told by the arguments, or by whoever starts the processes
            return value if value is not None else const(None)
        if row.kind == "join" and row.form == "call":
            raise PathPruned  # from here on the rank goes along with whatever the others do
        key = (site, self.inner)
        done = self.results.get(key)
        if done is not None:
            return done
        arguments = named(row.params, args, keywords)
        items = arguments.get(row.each) if row.each else None
        is_inner = self.inner[-1:] in {("each",), ("another",)}
        if items is not None and _may_differ_in_length(items) and not is_inner:
            with self.again("each"):
                result = self.collective(entry, args, keywords, node, site, receiver, value)
            if self.is_one_more(items, site):
                with self.again("another"):
                    self.collective(entry, args, keywords, node, site, receiver, value)
            return result
        otherwise = (
            value if value is not None else unknown("call", entry.name, *args, *keywords.values())
        )
        if not communicates(self, row, arguments, receiver) or (self.reading and value is not None):
            return otherwise
        if (
            row.kind == "wrap"
            and row.form == "call"
            and value is not None
            and not wraps(self, value)
        ):
            return otherwise
        tags = open_tags(self, row, receiver)
        if tags is None or (tags and not under(self, tags)):
            return otherwise
        members, group, text, certain = group_of(self, row, arguments, receiver)
        if members is not None:
            self.context.meet(members)
            if self.rank not in members:
                return const(None)
        if any(argument_is(arguments, argument) for argument in row.members_with):
            ranks = rank_set(self, arguments.get("ranks"))
            members = ranks if ranks is not None else frozenset({self.rank})
            self.context.meet(members)
            group, certain = ("members", members), ranks is not None
            if self.rank not in members:
                if self.context.is_entered_late:
                    raise PathPruned  # only members call what makes a group of members alone
                return const(None)
        payload = argument_node(row.params, row.payload, node)
        target = argument_node(row.params, row.result_param, node)
        raise CollectiveReached(
            Event(
                name=entry.name,
                kind=row.kind,
                match=("barrier",)
                if row.kind == "barrier"
                else (row.kind, entry.name.rsplit(".", 1)[-1]),
                members=self.cluster.everyone if members is None else members,
                group=group,
                group_text=text,
                certain=certain,
                site=site,
                module=self.frame.module.key,
                result_key=key,
                frame=self.frame,
                root=root_of(row, arguments),
                agree=agreeing(self, row, arguments),
                payload=payload,
                payload_value=arguments.get(row.payload) if row.payload else None,
                result=row.result,
                result_target=target,
                value=value,
                tags=tags,
                note=row.note,
                is_posted=is_posted(row, arguments),
                arguments=concrete_arguments(self, row, arguments),
                once=once_key(self, row, receiver),
                once_until=row.once_until,
            )
        )

    @contextmanager
    def again(self, what: str) -> Iterator[None]:
        """Call once more at the same site."""
        inner = self.inner
        self.inner = (*inner, what)
        try:
            yield
        finally:
            self.inner = inner

    def is_one_more(self, items: Value, site: int) -> bool:
        """Has a collection of this rank's own one more item than that of another?"""
        weak = getattr(items, "weak", False)
        atom = unknown("trip", items, self.here(site), local=True, weak=weak, fresh=True)
        return self.decide_at(site, atom)


def _may_differ_in_length(items: Value) -> bool:
    """Has a collection been filled under conditions of this rank's own?

    What a function returns for a batch of this rank has the same parts on all ranks as a rule.
    """
    if isinstance(items, v.Phi):
        if items.test.local:
            return True
        return _may_differ_in_length(items.then) or _may_differ_in_length(items.orelse)
    return isinstance(items, Unknown) and items.local and items.op in {v.EITHER, v.LOST}
