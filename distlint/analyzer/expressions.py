"""What an expression is worth on one rank.

Evaluation may stop with an exception: :class:`Need` (a condition has to be decided first),
:class:`Emit` (a collective is due) or :class:`Enter` (a function of the project runs first). The
statement is then evaluated again once that has happened; finished calls are remembered in
``results``, so nothing runs twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from distlint.analyzer import ir
from distlint.analyzer import values as v
from distlint.analyzer.project import Definition, Imported, Module
from distlint.analyzer.state import (
    Cont,
    Emit,
    Enter,
    Frame,
    Iterations,
    Key,
    Need,
    RankMatters,
    State,
)
from distlint.analyzer.values import Const, Unknown, Value, const, unknown

if TYPE_CHECKING:
    from distlint.analyzer.rehearsal import Rehearsal

LOOP_BOUND = 2
"""Iterations that are rehearsed of a loop whose count is not known."""

EXACT_BOUND = 16
"""Iterations that are rehearsed of a loop whose count is known."""

UNEVEN = "$uneven"
"""Token of sequences whose length differs from rank to rank."""

BATCH_HOOKS = frozenset({"training_step", "validation_step", "test_step", "predict_step"})
"""Methods that a framework calls with the batch of this rank."""

BATCH_END_HOOKS = frozenset(
    f"on_{stage}_batch_{edge}"
    for stage in ("train", "validation", "test", "predict")
    for edge in ("start", "end")
)
BATCH_PARAMS = frozenset({"batch", "outputs"})
"""Parameters of the hooks around a step that hold the batch of this rank, or what came of it."""

_SHAPES = frozenset({"shape", "ndim", "dtype", "device"})
"""Attributes of a tensor that its values do not change."""

_MASKS = frozenset({"==", "<", ">=", "not", "&", "|", "~", "both", "either"})
"""Operators that make the mask of a selection."""

RETURNED = Cont("returned", (), None, None)

SIDES = ("A", "B")
"""The two ranks that are compared."""

SAME = "$same"
"""Token of batches that all ranks read alike."""

RISKY = ("risky", "")
"""Variable that is set when something has been called that may raise on one rank alone."""

JOINED = ("joined", "")
"""Variable that is set inside ``join()``, where uneven counts do no harm."""


class Expressions:
    """The expression part of a machine: one rank's view of one rehearsal."""

    def __init__(self, rehearsal: Rehearsal, rank: int | None, side: Any = None) -> None:
        self.rehearsal = rehearsal
        self.one = rank
        """The rank; None for a machine that stands for all ranks as long as they do the same."""
        self.side = side
        self.cluster = rehearsal.cluster
        self.catalogue = rehearsal.catalogue
        self.known: dict[Any, bool] = {}
        self.assumptions: list[tuple[Any, bool]] = []
        """What has been assumed without asking, because the job is aborted elsewhere."""
        self.frame: Frame
        self.it: Iterations = ()
        self.k: Cont | None = None
        self.results: dict[Any, Value] = {}
        self.store: dict[Key, Value] = {}
        self.inner: tuple[Any, ...] = ()
        self.site = 0
        self.log: list[tuple[Any, ...]] | None = None
        self.mark = 0
        """Length of the log when the statement in hand was begun."""
        self.quiet = 0
        self.chosen = False
        """Has a comprehension been seen to filter by what is this rank's own?"""
        self.rejoin: Cont | None = None
        """Where a machine for all ranks stops, so that its ways can join."""
        self.reading = 0
        """Is something being evaluated that ran long ago, such as a global of the module?"""

    @property
    def rank(self) -> int:
        """The rank that this machine is.

        Raises:
            RankMatters: when it stands for all of them.
        """
        if self.one is None:
            raise RankMatters
        return self.one

    # ---- state

    def load(self, state: State) -> None:
        self.k, self.frame, self.it = state.k, state.frame, state.it
        self.results, self.store = dict(state.results), dict(state.store)
        self.rehearsal.spend(len(self.store))
        self.inner = ()

    def save(self) -> State:
        return State(self.k, self.frame, self.it, self.results, self.store)

    def number(self, *key: Any) -> int:
        """A number for an allocation, a scope or an object: equal on all ranks at equal places."""
        return self.rehearsal.number(key)

    def here(self, site: int) -> tuple[Any, ...]:
        """A key for what happens at a site in this activation and iteration."""
        return (site, self.frame.module.key, self.frame.scope, self.it, self.inner)

    # ---- conditions

    def decide(self, atom: Unknown) -> bool:
        """The truth of an unknown, shared by the ranks unless it is rank-local.

        Raises:
            Need: when nothing has been assumed about it yet.
        """
        if atom.op == "not":
            return not self.decide(atom.args[0])
        outcome = self.assumed(atom)
        if outcome is None:
            raise Need(atom, self.key(atom))
        return outcome

    def key(self, atom: Unknown) -> Any:
        """Under which an assumption is kept: a rank-local one is this side's own."""
        if not atom.local:
            return atom
        if self.one is None:
            raise RankMatters
        return (self.side, atom)

    def assumed(self, atom: Unknown) -> bool | None:
        """What has been assumed about an unknown on this side, None if nothing has."""
        if not atom.local:
            return self.known.get(atom)
        if self.one is not None:
            return self.known.get((self.side, atom))
        if any((side, atom) in self.known for side in SIDES):
            raise RankMatters
        return None

    def truth(self, value: Value, site: int) -> bool:
        """Is a value true on this rank?"""
        outcome = self._truth(value)
        if self.log is not None:
            self.log.append(("decide", self.frame, site, value, outcome, self.it))
        return outcome

    def _truth(self, value: Value) -> bool:
        if isinstance(value, v.Const):
            return bool(value.value)
        if isinstance(value, v.Ranked):
            outcomes = tuple(map(bool, value.values))
            if len(set(outcomes)) == 1:
                return outcomes[0]
            self.rehearsal.refine(outcomes)
            return outcomes[self.rank]
        if isinstance(value, Unknown):
            return self.decide(value)
        if isinstance(value, v.Phi):
            return self._truth(value.then if self.decide(value.test) else value.orelse)
        if isinstance(value, (v.Seq, v.Map)):
            return bool(value.items)
        if isinstance(value, v.External):
            return self.decide(unknown("truth", value))
        return True

    def settle(self, value: Value) -> Value:
        """The value itself, with conditions on the way to it decided."""
        while isinstance(value, v.Phi):
            value = value.then if self.decide(value.test) else value.orelse
        return value

    def on_this_rank(self, value: Value) -> Any:
        """The Python value on this rank; ValueError when it is not concrete."""
        row = v.vector(value, self.cluster.size)
        first = row[0]
        if all(item is first or item == first for item in row):
            return first
        return row[self.rank]

    # ---- expressions

    def ev(self, node: ir.Expr) -> Value:
        return _EVALUATE[type(node)](self, node)

    def ev_literal(self, node: ir.Literal) -> Value:
        return const(node.value)

    def ev_name(self, node: ir.Name) -> Value:
        return self.name(node.id)

    def name(self, name: str) -> Value:
        frame: Frame | None = self.frame
        while frame is not None and frame.function is not None:
            if name not in frame.function.outer:
                value = self.store.get((frame.scope, name))
                if value is not None:
                    return value
            frame = frame.outer
        return self.global_name(self.frame.module, name)

    def global_name(self, module: Module, name: str) -> Value:
        value = self.store.get((self.rehearsal.module_scope(module), name))
        if value is not None:
            return value
        key = (self.one, module.key, name)
        value = self.rehearsal.static.get(key)
        if value is None:
            value = self.rehearsal.static[key] = unknown("global", module.key, name)
            with self.apart(key):
                value = self.static_global(module, name)
            self.rehearsal.static[key] = value
        return value

    @contextmanager
    def apart(self, key: Any) -> Iterator[None]:
        """Evaluate what is remembered for good, without what this path has assumed."""
        saved = (self.store, self.known)
        self.store, self.known = {}, {}
        try:
            yield
        except RankMatters:
            del self.rehearsal.static[key]
            raise
        finally:
            self.store, self.known = saved

    def static_global(self, module: Module, name: str) -> Value:
        """A module-level name that no executed statement has bound."""
        definitions = module.definitions.get(name)
        if definitions:
            return self.join_definitions(module, name, definitions)
        if name == "__name__":
            return const("__main__") if module is self.rehearsal.main else const(module.path.stem)
        if name in self.rehearsal.builtins:
            return v.external(f"builtins.{name}")
        if name == "tqdm":
            return v.external("tqdm.tqdm")
        for dotted in module.star_imports:
            found = self.imported(module, dotted, name)
            if found is not None and not (isinstance(found, v.External) and "." in dotted[:1]):
                if not isinstance(found, v.External) or self.catalogue.lookup(found.name):
                    return found
        return self.by_name(module, name, unknown("global", module.key, name))

    def join_definitions(self, module: Module, name: str, definitions: list[Definition]) -> Value:
        if any(definition.kind == "changed" for definition in definitions):
            return unknown("global", module.key, name)
        found: list[Value] = []
        for definition in definitions[:4]:
            value = self.defined(module, name, definition)
            if value is not None and value not in found:
                found.append(value)
        if len(found) > 1:
            # what only stands in for a missing import or an undistributed run is not the rule
            telling = [item for item in found if not isinstance(item, Const)]
            found = telling if telling and len(telling) < len(found) else found
        return found[0] if len(found) == 1 else unknown("global", module.key, name)

    def defined(self, module: Module, name: str, definition: Definition) -> Value | None:
        node = definition.node
        scope = self.rehearsal.module_scope(module)
        if isinstance(node, ir.Function):
            return v.func(node, scope)
        if isinstance(node, ir.Class):
            return v.cls_value(node)
        if isinstance(node, Imported):
            return self.imported(module, node.dotted, node.attr)
        if isinstance(node, ir.Expr):
            value = self.evaluate_statically(module, node)
            if definition.index is not None:
                return self.item(value, definition.index)
            return value
        return None

    def evaluate_statically(self, module: Module, node: ir.Expr) -> Value:
        """The value of a module-level expression that is not being executed."""
        frame = Frame(self.rehearsal.module_scope(module), module, None, 0)
        value = self.quietly(frame, lambda: self.ev(node))
        return unknown("static", module.key, id(node)) if value is None else value

    def quietly(self, frame: Frame, thunk: Callable[[], Value]) -> Value | None:
        """Evaluate in another frame; None when that would take a collective or a decision."""
        saved = (self.frame, self.it, self.results, self.inner, self.log, self.k)
        self.frame, self.results, self.log = frame, {}, None
        self.quiet += 1
        self.reading += 1
        try:
            for _ in range(8):
                try:
                    return thunk()
                except Enter as enter:
                    value = self.run_quietly(enter)
                    if value is None:
                        return None
                    self.results[enter.key] = value
                    self.frame, self.it, self.inner = frame, saved[1], saved[3]
            return None
        except (Need, Emit, RecursionError):
            return None
        finally:
            self.quiet -= 1
            self.reading -= 1
            self.frame, self.it, self.results, self.inner, self.log, self.k = saved

    def run_quietly(self, enter: Enter) -> Value | None:
        raise NotImplementedError

    # ---- imports

    def imported(self, module: Module, dotted: str, attr: str | None) -> Value | None:
        """What an import binds; None when a project module lacks the name."""
        full = dotted if attr is None else f"{dotted}.{attr}"
        if not dotted.startswith(".") and self.catalogue.lookup(full) is not None:
            return v.external(full)
        path = self.rehearsal.find_module(dotted, module)
        if path is None:
            return v.external(full.lstrip("."))
        if attr is None:
            return v.module_ref(str(path))
        return self.module_attribute(str(path), attr)

    def module_attribute(self, key: str, attr: str) -> Value:
        target = self.rehearsal.module(key)
        if target is None:
            return v.external(f"{key}.{attr}")
        if attr in target.definitions or not self.rehearsal.submodule(target, attr):
            return self.global_name(target, attr)
        return v.module_ref(str(self.rehearsal.submodule(target, attr)))

    # ---- names without a definition

    def by_name(self, module: Module, name: str, otherwise: Value) -> Value:
        """The last resort for a parameter, option or attribute that nothing defines."""
        hint = self.catalogue.hint(name)
        if hint is not None:
            return v.obj(hint, self.number("hint", name))
        if self.rehearsal.trusts_names(module):
            rank = self.catalogue.rank_name(name)
            if rank is not None:
                return self.rank_value(rank, None)
            size = self.catalogue.uniform_name(name)
            if size is not None:
                return self.uniform_value(size.value, otherwise)
        return otherwise

    def rank_value(self, source: Any, group: Value | None) -> Value:
        """The rank number or main-process test of a catalogue entry on each rank."""
        numbers = self.coordinates(source.scope, source.axis, group)
        if numbers is None:
            return unknown("rank", source.name)
        if source.test is None:
            return v.ranked(numbers)
        wanted = max(numbers) if source.test == "last" else 0
        outcome = [number == wanted for number in numbers]
        return v.ranked([not item for item in outcome] if source.test == "nonmain" else outcome)

    def coordinates(
        self, scope: str, axis: str | None, group: Value | None
    ) -> tuple[int, ...] | None:
        if isinstance(group, v.Group):
            if group.kind == "axis":
                return self.cluster.axis(group.detail)
            if group.kind == "ranks":
                order = sorted(group.detail)
                return tuple(
                    order.index(rank) if rank in group.detail else -1
                    for rank in range(self.cluster.size)
                )
            if group.kind == "unknown":
                return self.cluster.axis(group)
        elif group is not None and not (isinstance(group, Const) and group.value is None):
            return self.cluster.axis(group)
        if axis is not None:
            return self.cluster.axis(axis)
        if scope in {"global", "local", "node"}:
            return self.cluster.coordinates(scope)
        if scope == "group":
            return self.cluster.coordinates("global")
        return self.cluster.axis(scope)

    def uniform_value(self, what: str, otherwise: Value) -> Value:
        if what == "world_size":
            return v.world_size(self.cluster)
        if what == "local_world_size":
            return v.local_world_size(self.cluster)
        if what == "nodes":
            return v.world(self.cluster.nodes, (1, 2, 4, 8))
        if what in {"true", "false"}:
            return const(what == "true")
        return otherwise

    # ---- attributes

    def ev_attribute(self, node: ir.Attribute) -> Value:
        return self.attribute(self.ev(node.value), node.attr, node.site)

    def attribute(self, receiver: Value, attr: str, site: int) -> Value:
        if isinstance(receiver, v.Phi):
            receiver = self.settle(receiver)
        if isinstance(receiver, v.External):
            return self.external_attribute(receiver, attr, site)
        if isinstance(receiver, v.ModuleRef):
            return self.module_attribute(receiver.name, attr)
        if isinstance(receiver, v.Instance):
            return self.instance_attribute(receiver, attr, site)
        if isinstance(receiver, v.Obj):
            return self.object_attribute(receiver, attr, site)
        if isinstance(receiver, v.Cls):
            return self.class_attribute(receiver.cls, None, attr, site)
        if isinstance(receiver, v.Super):
            return self.class_attribute(receiver.cls, receiver.instance, attr, site, above=True)
        if isinstance(receiver, Unknown):
            return self.unknown_attribute(receiver, attr)
        if isinstance(receiver, (v.Func, v.Partial)):
            stored = self.store.get((receiver, attr))
            return stored if stored is not None else unknown("attr", receiver, attr)
        return v.method(receiver, attr)

    def external_attribute(self, receiver: v.External, attr: str, site: int) -> Value:
        stored = self.store.get((receiver, attr))
        if stored is not None:
            return stored
        name = f"{receiver.name}.{attr}"
        entry = self.catalogue.lookup(name)
        if entry is not None:
            value = self.property_value(entry, None, site)
            if value is not None:
                return value
        return v.external(name)

    def property_value(self, entry: Any, receiver: Value | None, site: int) -> Value | None:
        """The value of an attribute that the catalogue describes; None if it is a method."""
        if entry.rank is not None and entry.rank.form in {"property", "name"}:
            return self.rank_value(entry.rank, None)
        if entry.uniform is not None and entry.uniform.form == "property":
            return self.uniform_value(
                entry.uniform.value, unknown("attr", *((receiver,) if receiver else ()), entry.name)
            )
        if entry.local is not None and entry.local.form == "property":
            return unknown(
                "property", entry.name, self.here(site), local=True, weak=entry.local.weak
            )
        if entry.collective is not None and entry.collective.form == "property":
            return self.collective(entry, [], {}, None, site, receiver)
        if entry.group is not None and entry.group.form == "property":
            return self.group_from(entry.group, {}, receiver)
        return None

    def object_attribute(self, receiver: v.Obj, attr: str, site: int) -> Value:
        stored = self.store.get((receiver.oid, attr))
        if stored is not None:
            return stored
        disabled = self.store.get((receiver.oid, "[disabled]"))
        if attr == "n" and isinstance(disabled, v.Ranked):
            # a bar counts on the ranks where it is shown
            self.rehearsal.refine(tuple(map(bool, disabled.values)))
            return const(0) if disabled.values[self.rank] else unknown("count", self.here(site))
        entry = self.catalogue.member(receiver.kind, attr)
        if entry is not None:
            value = self.property_value(entry, receiver, site)
            if value is not None:
                return value
        kind = self.catalogue.attribute(receiver.kind, attr)
        if kind is not None:
            return v.obj(kind, self.number("attribute", receiver.oid, attr))
        if receiver.inner is not None and attr == self.rehearsal.unwraps(receiver.kind):
            return receiver.inner
        if entry is None and self.rehearsal.trusts_names(self.frame.module):
            rank = self.catalogue.rank_name(attr)
            if rank is not None and attr != "rank":
                return self.rank_value(rank, None)
        return v.method(receiver, attr)

    def unknown_attribute(self, receiver: Unknown, attr: str) -> Value:
        stored = self.store.get((receiver, attr))
        if stored is not None:
            return stored
        if receiver.local and attr in _SHAPES:
            # as with the length: uniform as a rule, unless it is a share of the whole
            own = UNEVEN in receiver.tokens
            return unknown("attr", receiver, attr, local=own, clean=True)
        if receiver.local:
            return unknown("attr", receiver, attr)
        return self.by_name(self.frame.module, attr, unknown("attr", receiver, attr))

    # ---- objects of the project's classes

    def mro(self, cls: ir.Class) -> Iterator[ir.Class | str]:
        """The class and its bases, nearest first; a name for a class outside the project."""
        yield from self.rehearsal.mro(cls, self)

    def instance_attribute(self, receiver: v.Instance, attr: str, site: int) -> Value:
        stored = self.store.get((receiver.oid, attr))
        if stored is not None:
            return stored
        if attr == "__class__":
            return v.cls_value(receiver.cls)
        return self.class_attribute(receiver.cls, receiver, attr, site)

    def class_attribute(
        self,
        cls: ir.Class,
        bound: Value | None,
        attr: str,
        site: int,
        above: bool = False,
    ) -> Value:
        """An attribute looked up on a class; ``bound`` is the object it is reached through."""
        order = list(self.mro(cls))
        for owner in order[1:] if above else order:
            if isinstance(owner, str):
                found = self.framework_attribute(owner, bound, attr, site)
                if found is not None:
                    return found
                continue
            stored = self.store.get((owner, attr))
            if stored is not None:
                return stored
            function = owner.methods.get(attr)
            if function is not None:
                return self.bind(function, owner, bound, cls, site)
            if attr in owner.attributes:
                return self.evaluate_statically(
                    self.rehearsal.module_of(owner), owner.attributes[attr]
                )
        if bound is not None and not above:
            return self.assigned_attribute(cls, bound, attr)
        return unknown("attr", bound if bound is not None else v.cls_value(cls), attr)

    def framework_attribute(
        self, kind: str, bound: Value | None, attr: str, site: int
    ) -> Value | None:
        entry = self.catalogue.member(kind, attr)
        if entry is not None:
            value = self.property_value(entry, bound, site)
            if value is not None:
                return value
        name = self.catalogue.attribute(kind, attr)
        if name is not None:
            return v.obj(name, self.number("attribute", bound, attr))
        if entry is not None and bound is not None:
            return v.method(v.obj(kind, self.number("base", bound), bound), attr)
        return None

    def bind(
        self, function: ir.Function, owner: ir.Class, bound: Value | None, cls: ir.Class, site: int
    ) -> Value:
        module = self.rehearsal.module_of(owner)
        scope = self.rehearsal.module_scope(module)
        names = self.decorator_names(function)
        if "staticmethod" in names:
            return v.func(function, scope)
        if "classmethod" in names:
            return v.func(function, scope, v.cls_value(cls))
        method = v.func(function, scope, bound)
        if bound is not None and names & {
            "property",
            "cached_property",
            "functools.cached_property",
        }:
            return self.call(method, [], {}, site, None)
        return method

    def decorator_names(self, function: ir.Function) -> frozenset[str]:
        found = set()
        for decorator in function.decorators:
            node = decorator.func if isinstance(decorator, ir.Call) else decorator
            parts = []
            while isinstance(node, ir.Attribute):
                parts.append(node.attr)
                node = node.value
            if isinstance(node, ir.Name):
                parts.append(node.id)
                found.add(".".join(reversed(parts)))
        return frozenset(found)

    def assigned_attribute(self, cls: ir.Class, bound: Value, attr: str) -> Value:
        """``self.attr`` of an object of unknown history: what the class assigns to it."""
        key = (self.one, cls, attr)
        cached = self.rehearsal.static.get(key)
        if cached is None:
            otherwise = unknown("attr", bound, attr)
            self.rehearsal.static[key] = otherwise
            module = self.rehearsal.module_of(cls)
            with self.apart(key):
                found = self.assigned_values(cls, bound, attr)
            telling = [item for item in found if not isinstance(item, Const)]
            cached = telling[0] if len(telling) == 1 else None
            if cached is None or (
                isinstance(cached, Unknown) and not cached.local and len(found) == 1
            ):
                cached = self.by_name(module, attr, otherwise)
            elif isinstance(cached, Unknown):
                cached = otherwise
            self.rehearsal.static[key] = cached
        return cached

    def assigned_values(self, cls: ir.Class, bound: Value, attr: str) -> list[Value]:
        found: list[Value] = []
        for owner in self.mro(cls):
            if isinstance(owner, str):
                continue
            for function, node, index in self.rehearsal.assignments(owner, attr):
                module = self.rehearsal.module_of(owner)
                scope = self.number("self", owner, function.name)
                frame = Frame(
                    scope,
                    module,
                    function,
                    1,
                    Frame(self.rehearsal.module_scope(module), module, None, 0),
                )
                value = self.quietly(frame, partial(self.ev_unbound, node, function, bound))
                if value is not None and index is not None:
                    value = self.item(value, index)
                if value is None:
                    value = unknown("attr", bound, attr)
                if value not in found:
                    found.append(value)
        return found

    def ev_unbound(self, node: ir.Expr, function: ir.Function, bound: Value) -> Value:
        """Evaluate with the parameters of a method that nobody is seen to call."""
        self.bind_unbound(function, bound)
        return self.ev(node)

    def bind_unbound(self, function: ir.Function, bound: Value | None) -> None:
        """Give the parameters of a function without a caller what is known about them."""
        module = self.rehearsal.module_by_key(function.module)
        for position, param in enumerate(function.params):
            key = (self.frame.scope, param.name)
            if key in self.store:
                continue
            if position == 0 and bound is not None:
                self.store[key] = bound
            else:
                self.store[key] = self.unbound_param(module, function, param)

    def unbound_param(self, module: Module, function: ir.Function, param: ir.Param) -> Value:
        otherwise = unknown("param", param.name)
        if param.star:
            return otherwise
        if param.annotation is not None:
            value = self.annotated(module, param)
            if value is not None:
                return value
        kind = self.hook_param(module, function, param.name)
        if kind is not None:
            return v.obj(kind, self.number("hook param", param.name))
        if function.name in BATCH_HOOKS and function.owner and param is function.params[1]:
            return unknown("param", param.name, local=True)
        if function.name in BATCH_END_HOOKS and function.owner and param.name in BATCH_PARAMS:
            return unknown("param", param.name, local=True)
        if isinstance(param.default, ir.Literal) and param.default.value is None:
            # "no rank given" is a choice of the caller: here the parameter names another rank
            hint = self.catalogue.hint(param.name)
            return v.obj(hint, self.number("hint", param.name)) if hint else otherwise
        if self.rehearsal.binds_device(function, param.name):
            return v.ranked(self.cluster.coordinates("local"))
        return self.by_name(module, param.name, otherwise)

    def hook_param(self, module: Module, function: ir.Function, name: str) -> str | None:
        """The class of an argument with which a framework calls the hooks of its classes."""
        cls = module.class_of(function) if function.owner else None
        if cls is None:
            return None
        for owner in self.mro(cls):
            if isinstance(owner, str):
                kind = self.catalogue.method_param(owner, name)
                if kind is not None:
                    return kind
        return None

    def annotated(self, module: Module, param: ir.Param) -> Value | None:
        node = param.annotation
        if (
            isinstance(node, ir.Literal)
            and isinstance(node.value, str)
            and node.value.isidentifier()
        ):
            node = ir.Name(node.value)
        if not isinstance(node, (ir.Name, ir.Attribute)):
            return None
        found = self.evaluate_statically(module, node)
        if isinstance(found, v.Cls):
            return v.instance(found.cls, self.number("param", param.name))
        if isinstance(found, v.External):
            if self.catalogue.is_class(found.name):
                return v.obj(self.catalogue.canonical(found.name), self.number("param", param.name))
            if found.name == "torch.distributed.ProcessGroup":
                return v.group("unknown", unknown("param", param.name))
        return None

    # ---- operators

    def ev_binary(self, node: ir.Binary) -> Value:
        return v.binary(node.op, self.ev(node.left), self.ev(node.right), self.cluster)

    def ev_compare(self, node: ir.Compare) -> Value:
        left = self.ev(node.left)
        result: Value | None = None
        for op, right_node in zip(node.ops, node.rights, strict=True):
            right = self.ev(right_node)
            one = self.compare(op, left, right)
            result = one if result is None else self.both(result, one)
            left = right
        assert result is not None
        return result

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
        return v.binary(op, left, right, self.cluster)

    def both(self, left: Value, right: Value) -> Value:
        if isinstance(left, Const):
            return right if left.value else left
        if isinstance(left, v.Ranked):
            return right if left.values[self.rank] else left
        return unknown("both", left, right)

    def ev_not(self, node: ir.Not) -> Value:
        return v.negate(self.ev(node.value))

    def ev_unary(self, node: ir.Unary) -> Value:
        value = self.ev(node.value)
        if node.op == "-":
            return v.binary("-", const(0), value, self.cluster)
        return value if node.op == "+" else unknown(node.op, value)

    def ev_bool(self, node: ir.BoolOp) -> Value:
        """``and`` / ``or`` as a value: undecided operands make an undecided value."""
        *firsts, last = node.values
        stop = node.op == "or"
        for position, operand in enumerate(firsts):
            value = self.ev(operand)
            if isinstance(value, (Unknown, v.Phi)):
                return self.undecided_bool(node, value, position, stop)
            if self.truth(value, node.site) == stop:
                return value
        return self.ev(last)

    def undecided_bool(self, node: ir.BoolOp, value: Value, position: int, stop: bool) -> Value:
        if isinstance(value, v.Phi):
            value = self.settle(value)
        if not isinstance(value, Unknown):
            if self._truth(value) == stop:
                return value
            return self.rest_of_bool(node, position)
        test = value
        negated = test.op == "not"
        atom: Unknown = test.args[0] if negated else test
        if self.assumed(atom) is None:
            try:
                rest = self.rest_of_bool(node, position)
            except (Emit, Enter):
                self.decide(atom)
                raise
            then, orelse = (value, rest) if stop else (rest, value)
            return v.phi(atom, orelse, then) if negated else v.phi(atom, then, orelse)
        outcome = self.truth(value, node.site)
        return value if outcome == stop else self.rest_of_bool(node, position)

    def rest_of_bool(self, node: ir.BoolOp, position: int) -> Value:
        rest = node.values[position + 1 :]
        return self.ev(rest[0] if len(rest) == 1 else ir.BoolOp(node.op, rest, node.site))

    def test(self, node: ir.Expr, site: int) -> bool:
        """Evaluate a condition: operands from left to right, each only when it is reached."""
        if isinstance(node, ir.BoolOp):
            stop = node.op == "or"
            return next(
                (stop for operand in node.values if self.test(operand, site) == stop), not stop
            )
        if isinstance(node, ir.Not):
            return not self.test(node.value, site)
        return self.truth(self.ev(node), site)

    def ev_conditional(self, node: ir.Conditional) -> Value:
        test = self.ev(node.test)
        if isinstance(test, Unknown):
            negated = test.op == "not"
            atom: Unknown = test.args[0] if negated else test
            if self.assumed(atom) is None:
                try:
                    then, orelse = self.ev(node.body), self.ev(node.orelse)
                except (Emit, Enter):
                    self.decide(atom)
                    raise
                return v.phi(atom, orelse, then) if negated else v.phi(atom, then, orelse)
        return self.ev(node.body if self.truth(test, node.site) else node.orelse)

    # ---- displays, items

    def ev_display(self, node: ir.Display) -> Value:
        items: list[Value] = []
        for item in node.items:
            if isinstance(item, ir.Starred):
                inner = self.settle(self.ev(item.value))
                if not isinstance(inner, v.Seq):
                    return unknown("display", inner, self.here_id(node))
                items.extend(inner.items)
            else:
                items.append(self.ev(item))
        if len(items) > EXACT_BOUND * 2:
            return unknown("display", len(items), local=any(item.local for item in items))
        return v.seq(node.kind, items)

    def here_id(self, node: object) -> int:
        return self.number("node", id(node))

    def ev_dict(self, node: ir.DictDisplay) -> Value:
        items: list[tuple[Value, Value]] = []
        whole = True
        for key, value in zip(node.keys, node.values, strict=True):
            evaluated = self.ev(value)
            if key is None:
                if isinstance(evaluated, v.Map):
                    items.extend(evaluated.items)
                else:
                    whole = False
            else:
                items.append((self.ev(key), evaluated))
        if whole and len(items) <= EXACT_BOUND * 2:
            return v.mapping(items)
        return unknown("dict", len(items), local=any(value.local for _, value in items))

    def ev_subscript(self, node: ir.Subscript) -> Value:
        base = self.settle(self.ev(node.value))
        if isinstance(node.index, ir.Slice):
            return self.slice(base, node.index)
        index = self.settle(self.ev(node.index))
        stored = self.store.get((base, self.slot(index))) if isinstance(base, Unknown) else None
        return stored if stored is not None else self.subscript(base, index)

    def slot(self, index: Value) -> str:
        """The name of an item in the store: by number, as an index may be a big term."""
        return f"[{self.number('index', index)}]"

    def slice(self, base: Value, node: ir.Slice) -> Value:
        bounds = [
            self.settle(self.ev(bound)) if bound is not None else const(None)
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
            strided = v.is_ranked(bounds[0]) and isinstance(bounds[1], Const)
            return unknown("shard", base, UNEVEN) if strided else unknown("part", base)
        if isinstance(base, v.Seq) and all(isinstance(bound, Const) for bound in bounds):
            lower, upper, step = (v.plain(bound) for bound in bounds)
            try:
                return v.seq(base.kind, base.items[slice(lower, upper, step)])
            except (TypeError, ValueError):
                pass
        return unknown("slice", base, *bounds)

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
        if isinstance(base, v.Ranked) and isinstance(index, Const):
            try:
                return v.ranked([row[index.value] for row in base.values])
            except (TypeError, IndexError, KeyError):
                pass
        if isinstance(base, v.Obj):
            entry = self.catalogue.member(base.kind, "__getitem__")
            if entry is not None and entry.group is not None:
                return self.group_from(entry.group, {"": index}, base)
            if self.catalogue.subclass_of(base.kind, "torch.distributed.device_mesh.DeviceMesh"):
                return v.obj(base.kind, self.number("submesh", base.oid, index), index)
        if base.local and isinstance(index, Unknown) and index.local and index.op in _MASKS:
            # how many items a mask lets through is this rank's own
            return unknown("index", base, index, UNEVEN)
        return unknown("index", base, index)

    def pick(self, base: v.Seq, index: Value) -> Value | None:
        try:
            if isinstance(index, Const):
                found: Value = base.items[index.value]
                return found
            if v.is_ranked(index):
                rows = v.vector(index, self.cluster.size)
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
        except (IndexError, TypeError):
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
        value = self.settle(value) if not self.quiet else value
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
            if isinstance(value, v.Ranked):
                return v.ranked([function(item) for item in value.values])
            if isinstance(value, v.World):
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
        self.rehearsal.frames[self.frame.scope] = self.frame
        return v.func(node.function, self.frame.scope, None, ())

    def ev_format(self, node: ir.Format) -> Value:
        parts = [self.ev(part) for part in node.parts]
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
        value = self.ev(node.value)
        self.store[(self.frame.scope, node.target)] = value
        return value

    def ev_yield(self, node: ir.Yield) -> Value:
        if node.value is not None:
            self.ev(node.value)
        return unknown("sent", self.here(node.site), fresh=True)

    def ev_starred(self, node: ir.Starred) -> Value:
        return self.ev(node.value)

    def ev_slice(self, node: ir.Slice) -> Value:
        return unknown("slice", self.here_id(node))

    def ev_opaque(self, node: ir.Opaque) -> Value:
        return unknown("opaque", self.frame.module.key, node.site)

    def ev_comprehension(self, node: ir.Comprehension) -> Value:
        outer = self.inner
        outer_chosen, self.chosen = self.chosen, False
        items: list[Value] = []
        names = [
            (self.frame.scope, name)
            for target, _, _ in node.clauses
            for name in ir.names_bound(target)
        ]
        hidden = {key: self.store[key] for key in names if key in self.store}
        try:
            exact = self.comprehend(node, 0, items)
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
        if own:
            return unknown("comprehension", self.here(node.site), *items[:4], UNEVEN, local=True)
        tail = (UNEVEN,) if uneven else ()
        return unknown("comprehension", node.site, *items[:4], *tail)

    def comprehend(self, node: ir.Comprehension, level: int, items: list[Value]) -> bool:
        """Run one clause and those inside it; True if the items found are all there are."""
        if level == len(node.clauses):
            items.append(self.ev(node.element))
            return True
        target, iterable_node, tests = node.clauses[level]
        iterable = self.settle(self.ev(iterable_node))
        exact = self.exact_items(iterable)
        whole = exact is not None
        outer = self.inner
        for index in range(len(exact) if exact is not None else LOOP_BOUND):
            self.inner = (*outer, (node.site, level, index))
            item = exact[index] if exact is not None else self.loop_item(iterable, index, node.site)
            events = len(self.results)
            kept: bool | None = True
            try:
                self.bind_target(target, item)
                kept = self.filtered(tests)
                if kept is False:
                    continue
                whole = self.comprehend(node, level + 1, items) and whole and kept is True
            except (Emit, Enter):
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

    def filtered(self, tests: tuple[ir.Expr, ...]) -> bool | None:
        """Do the conditions of a clause keep the item? None if that is not known."""
        verdict: bool | None = True
        for test in tests:
            value = self.ev(test)
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
        if isinstance(iterable, v.Ranked):
            mine = iterable.values[self.rank]
            if isinstance(mine, (tuple, range, frozenset)) and len(mine) <= EXACT_BOUND:
                self.rehearsal.refine(
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
        outcome = self.decide(atom)
        if self.log is not None:
            self.log.append(("decide", self.frame, site, atom, outcome, self.it))
        return outcome

    def trip_atom(self, iterable: Value, index: int) -> Unknown:
        """The unknown that says whether there is an item with this index."""
        while isinstance(iterable, Unknown) and iterable.op in {"enumerate", "item set"}:
            iterable = iterable.args[0]
        uneven = self.is_uneven(iterable) and JOINED not in self.store
        weak = uneven and getattr(iterable, "weak", False)
        return unknown("trip", iterable, index, local=uneven, weak=weak, clean=True)

    def is_uneven(self, iterable: Value) -> bool:
        """May the number of items differ from rank to rank?"""
        if isinstance(iterable, v.Obj):
            return "uneven" in iterable.marks
        if isinstance(iterable, v.Instance):
            return self.rehearsal.strides_by_rank(iterable.cls, self)
        if isinstance(iterable, Unknown) and iterable.op == "zip":
            return all(self.is_uneven(self.settle(arg)) for arg in iterable.args)
        return UNEVEN in getattr(iterable, "tokens", ())

    def loop_item(self, iterable: Value, index: int, site: int) -> Value:
        """The item of an iteration over something unknown."""
        if isinstance(iterable, Unknown) and iterable.op == "enumerate":
            inner = iterable.args[0]
            number = unknown("step", inner, index, self.here(site), fresh=True)
            return v.seq("tuple", [number, self.loop_item(inner, index, site)])
        if isinstance(iterable, Unknown) and iterable.op == "zip":
            return v.seq("tuple", [self.loop_item(arg, index, site) for arg in iterable.args])
        if isinstance(iterable, v.Obj) and not iterable.marks & {"sharded", "shuffle=True"}:
            if self.catalogue.subclass_of(iterable.kind, "torch.utils.data.DataLoader"):
                return unknown("item", iterable, index, self.here(site), SAME, fresh=True)
        own = isinstance(iterable, v.Obj) and "sharded" in iterable.marks
        own = own or UNEVEN in getattr(iterable, "tokens", ())
        return unknown("item", iterable, index, self.here(site), local=own or None, fresh=True)

    def bind_target(self, target: ir.Expr, value: Value) -> None:
        raise NotImplementedError

    # ---- calls

    def ev_call(self, node: ir.Call) -> Value:
        raise NotImplementedError

    def call(
        self,
        target: Value,
        args: list[Value],
        keywords: dict[str, Value],
        site: int,
        node: ir.Call | None,
    ) -> Value:
        raise NotImplementedError

    def collective(
        self,
        entry: Any,
        args: list[Value],
        keywords: dict[str, Value],
        node: ir.Call | None,
        site: int,
        receiver: Value | None,
    ) -> Value:
        raise NotImplementedError

    def group_from(self, source: Any, arguments: dict[str, Value], receiver: Value | None) -> Value:
        raise NotImplementedError


def _lift(items: Iterable[Any]) -> Value:
    return v.seq("tuple", [const(item) for item in items])


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
