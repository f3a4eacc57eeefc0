"""Collectives that a rank comes to: who takes part, with which arguments, under which strategy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from distlint.analyzer import ir
from distlint.analyzer.static import hooks
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.class_hierarchy import class_has_buffers, mro
from distlint.analyzer.symbolic.collective_events import WORLD, Membership
from distlint.analyzer.symbolic.expressions import Expressions
from distlint.analyzer.symbolic.framework_names import DATA_LOADER, MODULE
from distlint.analyzer.symbolic.gradient_mode import arms_backward
from distlint.analyzer.symbolic.groups import is_group
from distlint.analyzer.symbolic.state import CollectiveReached, Event, Key, PathPruned
from distlint.analyzer.symbolic.strategies import (
    UNDER,
    alone_with,
    built_tags,
    rules_out_strategies,
    tags_of,
)
from distlint.analyzer.symbolic.tensors import dtype_of, shape_of
from distlint.analyzer.symbolic.values import Const, Unknown, Value, const, unknown
from distlint.catalogue.entries import AMBIENT_TAGS, Argument, Collective, Entry, GroupSource
from distlint.catalogue.entries import position as position_of

BUILT_WITH_GROUP = "[group]"
"""Where an object keeps the process group that its constructor was given."""

MAX_RANK = 1_000_000
"""No job has more processes; a larger number is not treated as a rank."""

SYNC_BUFFERS = frozenset({"broadcast_buffers", "forward_sync_buffers"})
"""Arguments of wrappers without which a forward broadcasts no buffers."""


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
        arguments = self.named(row.params, args, keywords)
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
        if not self.communicates(row, arguments, receiver) or (self.reading and value is not None):
            return otherwise
        if (
            row.kind == "wrap"
            and row.form == "call"
            and value is not None
            and not self.wraps(value)
        ):
            return otherwise
        tags = self.open_tags(row, receiver)
        if tags is None or (tags and not self.under(tags)):
            return otherwise
        members, group, text, certain = self.group_of(row, arguments, receiver)
        if members is not None:
            self.context.meet(members)
            if self.rank not in members:
                return const(None)
        if any(self.argument_is(arguments, argument) for argument in row.members_with):
            ranks = self.rank_set(arguments.get("ranks"))
            members = ranks if ranks is not None else frozenset({self.rank})
            self.context.meet(members)
            group, certain = ("members", members), ranks is not None
            if self.rank not in members:
                if self.context.is_entered_late:
                    raise PathPruned  # only members call what makes a group of members alone
                return const(None)
        payload = self.argument_node(row.params, row.payload, node)
        target = self.argument_node(row.params, row.result_param, node)
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
                root=self.root_of(row, arguments),
                agree=self.agreeing(row, arguments),
                payload=payload,
                payload_value=arguments.get(row.payload) if row.payload else None,
                result=row.result,
                result_target=target,
                value=value,
                tags=tags,
                note=row.note,
                is_posted=self.is_posted(row, arguments),
                arguments=self.concrete_arguments(row, arguments),
                once=self.once(row, receiver),
                once_until=row.once_until,
            )
        )

    def once(self, row: Collective, receiver: Value | None) -> Key | None:
        """The variable that says that a call of its kind does not communicate from here on."""
        if not isinstance(receiver, v.Obj):
            return None
        is_last = row.after_gradients and not arms_backward(self, receiver)
        return ("once", receiver.oid) if row.once_until or is_last else None

    def is_posted(self, row: Collective, arguments: dict[str, Value]) -> bool:
        given = arguments.get(row.async_) if row.async_ else None
        return isinstance(given, Const) and given.value is True

    def concrete_arguments(
        self, row: Collective, arguments: dict[str, Value]
    ) -> tuple[object, ...]:
        """The root and the agreeing arguments as this rank passes them, None where not known."""
        found: list[object] = []
        for value in (
            self.root_of(row, arguments),
            *(pair[1] for pair in self.agreeing(row, arguments)),
        ):
            if value is not None and v.is_ranked(value):
                self.note_classes(value)
            try:
                found.append(self.on_this_rank(value) if value is not None else None)
            except ValueError:
                found.append(value.name if isinstance(value, v.External) else None)
        return tuple(found)

    def note_classes(self, value: Value) -> None:
        """Ranks that pass different arguments have to be compared."""
        with suppress(ValueError):
            self.context.refine(tuple(map(repr, v.vector(value, self.cluster.size))))

    def wraps(self, value: Value) -> bool:
        """Is there a model, or something that may be one, among what is prepared?"""
        made = value.items if isinstance(value, v.Seq) else (value,)
        return any(
            self.kind_of(item) is None
            or (isinstance(item, v.Obj) and self.catalogue.arms_backward(item.kind))
            for item in made
        )

    def communicates(
        self, row: Collective, arguments: dict[str, Value], receiver: Value | None
    ) -> bool:
        if any(self.argument_is(arguments, argument) for argument in row.not_with):
            return False
        if any(self.built_with(receiver, argument) for argument in row.not_built_with):
            return False
        if isinstance(receiver, v.Obj):
            if any(self.built_with(receiver, a) for a in alone_with(self.catalogue, receiver.kind)):
                return False
            if (row.once_until or row.after_gradients) and self.is_cached(receiver.oid):
                return False
        return all(
            self.argument_is(arguments, argument) or self.built_with(receiver, argument)
            for argument in row.only_with
        )

    def argument_is(self, arguments: dict[str, Value], wanted: Argument) -> bool:
        value = arguments.get(wanted.param)
        return isinstance(value, Const) and value.value == wanted.value

    def built_with(self, receiver: Value | None, wanted: Argument) -> bool:
        return isinstance(receiver, v.Obj) and f"{wanted.param}={wanted.value!r}" in receiver.marks

    def open_tags(self, row: Collective, receiver: Value | None) -> tuple[str, ...] | None:
        """Strategies of which one must be in use for the call to communicate; None: none can be.

        An empty tuple means that it always does, as far as the object tells.
        """
        if not row.only_under:
            return ()
        if row.always_since and not hooks.keeps_to_older(
            self.context.main, row.framework, row.always_since
        ):
            return ()
        owned = (
            tags_of(self.catalogue, receiver.kind) if isinstance(receiver, v.Obj) else frozenset()
        )
        if isinstance(receiver, v.Obj):
            owned = owned | built_tags(self.catalogue, receiver)
        if not owned.isdisjoint(row.only_under):
            return ()
        tags = [tag for tag in row.only_under if tag in AMBIENT_TAGS]
        if "buffers" in tags and isinstance(receiver, v.Obj):
            has_buffers = self.has_buffers(receiver)
            if has_buffers:
                return ()
            if has_buffers is False:
                tags = [tag for tag in tags if tag not in {"buffers", "sync_bn"}]
        return tuple(tags) if tags else None

    def has_buffers(self, receiver: v.Obj) -> bool | None:
        """Does the wrapped module have buffers that a forward broadcasts? None if unknown."""
        for name in SYNC_BUFFERS:
            if f"{name}=False" in receiver.marks:
                return False
            if f"{name}=?" in receiver.marks:
                return None
        return self.module_has_buffers(receiver.inner)

    def module_has_buffers(self, inner: Value | None) -> bool | None:
        """Does a module, or one that it is made of, have buffers? None if unknown."""
        if isinstance(inner, v.Phi):
            return self.any_has_buffers((inner.then, inner.orelse))
        if isinstance(inner, v.Seq):
            return self.any_has_buffers(inner.items)
        if isinstance(inner, v.Instance):
            return class_has_buffers(self, inner.cls)
        if isinstance(inner, v.Obj):
            if inner.inner is not None:
                return self.module_has_buffers(inner.inner)
            return _is_known_to_have_buffers(inner.kind)
        if isinstance(inner, Unknown) and inner.op in {"call", "method"}:
            made = [_is_known_to_have_buffers(name) for name in inner.args if isinstance(name, str)]
            parts = [part for part in inner.args if isinstance(part, (v.Obj, v.Instance, v.Seq))]
            if True in made or any("batchnorm" in name.lower() for name in inner.tokens):
                return True
            return self.any_has_buffers(parts) if False in made else None
        return None

    def any_has_buffers(self, modules: Iterable[Value]) -> bool | None:
        verdicts = {self.module_has_buffers(each) for each in modules}
        return True if True in verdicts else None if None in verdicts else False

    def under(self, tags: tuple[str, ...]) -> bool:
        """Assume one of the strategies, unless the path has ruled it out."""
        for atom, outcome in self.known.items():
            if rules_out_strategies(atom, outcome):
                return False
        return self.decide(unknown(UNDER, *tags))

    def group_of(
        self, row: Collective, arguments: dict[str, Value], receiver: Value | None
    ) -> Membership:
        """Who takes part in a collective."""
        if row.group is not None and row.group in arguments:
            return self.members_of(self.resolve(arguments[row.group]))
        kind = row.group_kind
        if kind == "receiver" and isinstance(receiver, v.Obj):
            built_with = self.store.get((receiver.oid, BUILT_WITH_GROUP))
            if built_with is not None:
                return self.members_of(self.resolve(built_with))
        if kind == "receiver" and receiver is not None and is_group(receiver):
            return self.members_of(receiver)
        if kind in {None, "world", "receiver"}:
            return WORLD
        if kind == "node":
            mine = self.rank // self.cluster.local
            members = frozenset(
                rank for rank in self.cluster.everyone if rank // self.cluster.local == mine
            )
            return members, ("node", members), "node", True
        if kind in {"mesh", "mp"}:
            return None, ("unknown", kind), kind, False
        return self.members_of(v.group("axis", kind))

    def members_of(self, group: Value) -> Membership:
        if isinstance(group, Const) and group.value is None:
            return WORLD
        if isinstance(group, v.Group):
            if group.kind == "world":
                return WORLD
            if group.kind == "ranks":
                return (
                    group.detail,
                    ("ranks", group.detail, group.oid),
                    _ranks_text(group.detail),
                    True,
                )
            if group.kind == "axis":
                line = self.cluster.line(group.detail, self.rank)
                if line is not None:
                    return line, ("axis", group.detail, line), str(group.detail), True
        line = self.cluster.line(group, self.rank) if group in self.cluster.axes else None
        if line is not None:
            return line, ("axis", group, line), "group", True
        return None, ("unknown", group), "group", False

    def rank_set(self, value: Value | None) -> frozenset[int] | None:
        if value is None or (isinstance(value, v.Seq) and value.kind == v.CUT):
            return None
        try:
            mine = self.on_this_rank(value)
        except ValueError:
            return None
        try:
            found = frozenset(int(item) for item in mine)
        except (TypeError, ValueError, OverflowError):
            return None
        return found if all(abs(rank) <= MAX_RANK for rank in found) else None

    def group_from(
        self, source: GroupSource, arguments: dict[str, Value], receiver: Value | None
    ) -> Value:
        """The process group that a call or attribute yields."""
        if source.axis is not None:
            return v.group("world") if source.axis == "world" else v.group("axis", source.axis)
        if source.ranks is not None:
            ranks = arguments.get(source.ranks)
            if ranks is None or (isinstance(ranks, Const) and ranks.value is None):
                members = self.cluster.everyone
                return v.group("ranks", members, self.number("group", self.here(self.site)))
            named = self.rank_set(ranks)
            if named is not None:
                members = self.cluster.within(named)
                if members:
                    self.cluster.require(max(members) + 1)
                return v.group("ranks", members, self.number("group", self.here(self.site)))
            return v.group("unknown", ranks)
        if source.mesh is not None:
            dimension = next(iter(arguments.values()), None)
            base = receiver.inner if isinstance(receiver, v.Obj) and receiver.inner else None
            key = dimension if dimension is not None else base
            if isinstance(key, Const) and isinstance(key.value, str):
                return v.group("axis", _axis_name(key.value))
            return v.group("axis", ("mesh", receiver, key))
        return v.group("unknown", unknown("group", source.name))

    def root_of(self, row: Collective, arguments: dict[str, Value]) -> Value | None:
        if row.root is None:
            return None
        value = arguments.get(row.root)
        if value is None:
            return const(row.root_default) if row.root_default is not None else None
        return value

    def agreeing(
        self, row: Collective, arguments: dict[str, Value]
    ) -> tuple[tuple[str, Value], ...]:
        found = [(name, arguments[name]) for name in row.agree if name in arguments]
        if (
            "op" in row.agree
            and "op" not in arguments
            and row.name.startswith("torch.distributed.")
        ):
            found.append(("op", v.external("torch.distributed.ReduceOp.SUM")))
        if row.kind == "group_creation" and "ranks" in row.params:
            ranks = arguments.get("ranks", const(None))
            if isinstance(ranks, Const) and ranks.value is None:
                ranks = const(tuple(sorted(self.cluster.everyone)))
            elif self.is_each_alone(ranks):
                ranks = const("each rank alone")  # with no other rank to wait for
            elif _is_own_part(ranks):
                ranks = v.ranked(list(range(self.cluster.size)))
            found = [pair for pair in found if pair[0] != "ranks"]
            found.append(("ranks", ranks))
        if row.payload and row.name.startswith("torch.distributed."):
            tensor, package = arguments.get(row.payload), row.name.partition(".")[0]
            found.append(("dtype", dtype_of(tensor, package)))
            if row.kind in _OF_ONE_SHAPE:
                found.append(("shape", shape_of(tensor, package)))
        return tuple(found)

    def is_each_alone(self, ranks: Value) -> bool:
        """Does every rank name a group of one, as a rule of itself?"""
        try:
            named = v.vector(ranks, self.cluster.size)
        except ValueError:
            return False
        return all(isinstance(members, (list, tuple)) and len(members) == 1 for members in named)

    def argument_node(
        self, params: tuple[str, ...], param: str | None, node: ir.Call | None
    ) -> ir.Expr | None:
        """The source of an argument, so that its variable can be given the result."""
        if param is None or node is None:
            return None
        position = position_of(params, param)
        for index, argument in enumerate(node.args):
            if argument.keyword == param:
                return argument.value
            if argument.star:
                return None
            if index == position and argument.keyword is None:
                return argument.value
        return None

    def named(
        self, params: tuple[str, ...], args: list[Value], keywords: dict[str, Value]
    ) -> dict[str, Value]:
        """Arguments by parameter name."""
        found = dict(keywords)
        for name, value in zip(params, args, strict=False):
            if name.startswith("*"):
                break
            found[name] = value
        return found

    def kind_of(self, value: Value) -> str | None:
        """The framework class of a value, looking through the project's subclasses."""
        if isinstance(value, v.Obj):
            return value.kind
        if isinstance(value, v.Instance):
            return next((owner for owner in mro(self, value.cls) if isinstance(owner, str)), None)
        if isinstance(value, Unknown) and value.op in {"param", "call", "global", "attr", "method"}:
            # what is handed to prepare under the name of a model is one
            name = str(value.args[-1] if value.op in {"global", "attr"} else value.args[0])
            last = name.rsplit(".", 1)[-1].rsplit(":", 1)[0].lower()
            if value.op == "call" and name.startswith("torch.nn."):
                return MODULE
            if last.endswith(("model", "net", "network", "unet", "transformer")) or (
                value.op == "call" and "from_pretrained" in name
            ):
                return MODULE
            if last.endswith(("dataloader", "loader")):
                return DATA_LOADER
        return None

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


def _is_known_to_have_buffers(name: str) -> bool | None:
    """Does a module of this class have buffers of its own? None if that is not known."""
    if "BatchNorm" in name or name.startswith("torchvision.models"):
        return True
    return False if name.startswith("torch.nn.") else None


def _may_differ_in_length(items: Value) -> bool:
    """Has a collection been filled under conditions of this rank's own?

    What a function returns for a batch of this rank has the same parts on all ranks as a rule.
    """
    if isinstance(items, v.Phi):
        if items.test.local:
            return True
        return _may_differ_in_length(items.then) or _may_differ_in_length(items.orelse)
    return isinstance(items, Unknown) and items.local and items.op in {v.EITHER, v.LOST}


_OF_ONE_SHAPE = frozenset({"all_reduce", "broadcast", "reduce"})
"""Collectives whose tensors have the same shape on all ranks."""


def _is_own_part(value: Value) -> bool:
    """Is it a part of a list that the rank picks?"""
    if not isinstance(value, Unknown):
        return v.is_ranked(value)
    if value.op in {"part", "shard"}:
        return True
    if value.op == "call" or (value.op == "method" and "index" not in value.args[1:2]):
        return False
    return any(_is_own_part(arg) for arg in value.args if isinstance(arg, Value))


def _ranks_text(members: frozenset[int]) -> str:
    return f"ranks {', '.join(map(str, sorted(members)))}"


def _axis_name(text: str) -> str:
    """``dp_shard`` and ``data_parallel`` are both a data axis."""
    lowered = text.lower()
    for short, long in (
        ("tp", "tensor"),
        ("pp", "pipeline"),
        ("dp", "data"),
        ("cp", "context"),
        ("ep", "expert"),
        ("sp", "sequence"),
    ):
        if lowered == short or long in lowered:
            return short
    return lowered
