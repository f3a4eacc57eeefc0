"""What names and attributes stand for: variables, imports, objects, and names that tell a rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.project.module import Definition, Imported, Module
from distlint.analyzer.static import hooks
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.framework_names import PROCESS_GROUP
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.rank_numbers import rank_value, uniform_value
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    CallRequested,
    CollectiveReached,
    Frame,
    RankDependent,
)
from distlint.analyzer.symbolic.subscripts import item_of
from distlint.analyzer.symbolic.values import UNEVEN, Const, Unknown, Value, const, unknown
from distlint.catalogue.entries import Entry
from distlint.source.incomplete import Reason

_KINDS = frozenset(
    {"shape", "ndim", "dtype", "device", "is_cuda", "is_cpu", "is_sparse", "is_leaf"}
)
"""Attributes of a tensor that its values do not change."""
_ADAPTERS = ("lora", "peft", "adapter", "galore")


def _is_of_adapters(value: Unknown) -> bool:
    """Is it ``cfg.lora``, whose ``rank`` is that of a matrix?"""
    name = value.args[-1] if value.args else ""
    return isinstance(name, str) and any(word in name.lower() for word in _ADAPTERS)


class NameResolver(Interpreter):
    """The part of a machine that finds what is meant."""

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
        value = self.store.get((self.context.module_scope(module), name))
        if value is not None:
            return value
        key = (self.one, module.key, name, self.context.is_entered_late)
        value = self.context.static.get(key)
        if value is None:
            value = self.context.static[key] = unknown("global", module.key, name)
            with self.apart(key):
                value = self.static_global(module, name)
            self.context.static[key] = value
        return value

    @contextmanager
    def apart(self, key: Hashable) -> Iterator[None]:
        """Evaluate what is remembered for good, without what this path has assumed."""
        saved = (self.store, self.known, self.joins)
        self.store, self.known, self.joins = {}, {}, True  # what any machine comes to
        try:
            yield
        except RankDependent:
            del self.context.static[key]
            raise
        finally:
            self.store, self.known, self.joins = saved

    def static_global(self, module: Module, name: str) -> Value:
        """A module-level name that no executed statement has bound."""
        definitions = module.definitions.get(name)
        if definitions:
            return self.join_definitions(module, name, definitions)
        if name == "__name__":
            return const("__main__") if module is self.context.main else const(module.path.stem)
        if name in self.context.builtins:
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
        if self.context.is_entered_late:
            found += self.set_by_functions(module, name)
        if len(found) > 1:
            # what only stands in for a missing import or an undistributed run is not the rule
            telling = [item for item in found if not isinstance(item, Const)]
            found = telling if telling and len(telling) < len(found) else found
        if len(found) != 1 or self.may_be_filled(found[0]):
            return unknown("global", module.key, name)
        return found[0]

    def set_by_functions(self, module: Module, name: str) -> list[Value]:
        """What functions of a module assign to a global of it."""
        found: list[Value] = []
        for function, node, index in self.context.global_assignments(module, name):
            scope = self.number("global", function.name)
            outer = Frame(self.context.module_scope(module), module, None, 0)
            frame = Frame(scope, module, function, 1, outer)
            value = self.quietly(frame, partial(self.ev_unbound, node, function, None))
            if value is not None and index is not None:
                value = item_of(self, value, index)
            found.append(unknown("global", module.key, name) if value is None else value)
        return found

    def may_be_filled(self, value: Value) -> bool:
        """Is it an empty container, into which something may have been put by now?"""
        return self.context.is_entered_late and v.is_empty_container(value)

    def defined(self, module: Module, name: str, definition: Definition) -> Value | None:
        node = definition.node
        scope = self.context.module_scope(module)
        if isinstance(node, ir.Function):
            return v.func(node, scope)
        if isinstance(node, ir.Class):
            return v.cls_value(node)
        if isinstance(node, Imported):
            return self.imported(module, node.dotted, node.attr)
        if isinstance(node, ir.Expr):
            value = self.evaluate_statically(module, node)
            if definition.index is not None:
                return item_of(self, value, definition.index)
            return value
        return None

    def evaluate_statically(self, module: Module, node: ir.Expr) -> Value:
        """The value of a module-level expression that is not being executed."""
        frame = Frame(self.context.module_scope(module), module, None, 0)
        value = self.quietly(frame, lambda: self.evaluate(node))
        return unknown("static", module.key, id(node)) if value is None else value

    def quietly(self, frame: Frame, thunk: Callable[[], Value]) -> Value | None:
        """Evaluate in another frame; None when that would take a collective or a decision."""
        saved = (self.frame, self.it, self.results, self.inner, self.log, self.k, self.site)
        self.frame, self.results, self.log = frame, {}, None
        self.it, self.inner = (), ()  # whoever asks first, it is evaluated where it stands
        self.quiet += 1
        self.reading += 1
        try:
            for _ in range(8):
                try:
                    return thunk()
                except CallRequested as enter:
                    value = self.made_quietly(enter)
                    if value is None:
                        return None
                    self.results[enter.key] = value
                    self.frame, self.it, self.inner = frame, (), ()
            return None
        except (BranchUndecided, CollectiveReached, RecursionError):
            return None
        finally:
            self.quiet -= 1
            self.reading -= 1
            self.frame, self.it, self.results, self.inner, self.log, self.k, self.site = saved

    def made_quietly(self, enter: CallRequested) -> Value | None:
        """What a call returns; an object of which the construction meets others is the object.

        Its attributes are what is assigned to them.
        """
        try:
            return self.run_quietly(enter) or enter.value
        except (BranchUndecided, CollectiveReached):
            if enter.value is None:
                raise
            return enter.value

    # ---- imports

    def imported(self, module: Module, dotted: str, attr: str | None) -> Value | None:
        """What an import binds; None when a project module lacks the name."""
        full = dotted if attr is None else f"{dotted}.{attr}"
        if not dotted.startswith(".") and self.catalogue.lookup(full) is not None:
            return v.external(full)
        path = self.context.find_module(dotted, module)
        if path is None:
            return v.external(full.lstrip("."))
        if attr is None:
            return v.module_ref(str(path))
        return self.module_attribute(str(path), attr)

    def module_attribute(self, key: str, attr: str) -> Value:
        target = self.context.module(key)
        if target is None:
            if self.context.project.is_unreadable(key):
                self.context.incomplete.add(Reason.IMPORTS)
            return v.external(f"{key}.{attr}")
        full = f"{target.dotted}.{attr}"  # the same thing, however it was imported
        if self.catalogue.lookup(full) is not None:
            return v.external(full)
        if attr in target.definitions or not self.context.submodule(target, attr):
            return self.global_name(target, attr)
        return v.module_ref(str(self.context.submodule(target, attr)))

    # ---- names without a definition

    def by_name(self, module: Module, name: str, otherwise: Value) -> Value:
        """The last resort for a parameter, option or attribute that nothing defines."""
        hint = self.catalogue.hint(name)
        if hint is not None:
            return v.obj(hint, self.number("hint", name))
        if module.is_of_several_ranks:
            rank = self.catalogue.rank_name(name)
            if rank is not None:
                return rank_value(self, rank, None)
            size = self.catalogue.uniform_name(name)
            if size is not None:
                return uniform_value(self, size.value, otherwise)
        return otherwise

    # ---- attributes

    def ev_attribute(self, node: ir.Attribute) -> Value:
        receiver = self.evaluate(node.value)
        return self.of_each(receiver, lambda each: self.attribute(each, node.attr, node.site))

    def attribute(self, receiver: Value, attr: str, site: int) -> Value:
        if isinstance(receiver, v.Phi):
            receiver = self.resolve(receiver)
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

    def property_value(self, entry: Entry, receiver: Value | None, site: int) -> Value | None:
        """The value of an attribute that the catalogue describes; None if it is a method."""
        if entry.rank is not None and entry.rank.form in {"property", "name"}:
            return rank_value(self, entry.rank, None)
        if entry.uniform is not None and entry.uniform.form == "property":
            return uniform_value(
                self,
                entry.uniform.value,
                unknown("attr", *((receiver,) if receiver else ()), entry.name),
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
        if attr == "n" and isinstance(disabled, v.PerRank):
            # a bar counts on the ranks where it is shown
            self.context.refine(tuple(map(bool, disabled.values)))
            return const(0) if disabled.values[self.rank] else unknown("count", self.here(site))
        entry = self.catalogue.member(receiver.kind, attr)
        if entry is not None:
            value = self.property_value(entry, receiver, site)
            if value is not None:
                return value
        kind = self.catalogue.attribute(receiver.kind, attr)
        if kind is not None:
            return v.obj(kind, self.number("attribute", receiver.oid, attr))
        if receiver.inner is not None and attr == self.context.unwraps(receiver.kind):
            return receiver.inner
        if entry is None and self.frame.module.is_of_several_ranks:
            rank = self.catalogue.rank_name(attr)
            if rank is not None and attr != "rank":
                return rank_value(self, rank, None)
        return v.method(receiver, attr)

    def unknown_attribute(self, receiver: Unknown, attr: str) -> Value:
        stored = self.store.get((receiver, attr))
        if stored is not None:
            return stored
        if receiver.local and attr in _KINDS:
            # as with the length: uniform as a rule, unless it is a share of the whole
            own = attr == "shape" and UNEVEN in receiver.tokens
            return unknown("attr", receiver, attr, local=own, clean=True)
        found = unknown("attr", receiver, attr)
        if receiver.local or _is_of_adapters(receiver):
            return found
        return self.by_name(self.frame.module, attr, found)

    # ---- objects of the project's classes

    def mro(self, cls: ir.Class) -> Iterator[ir.Class | str]:
        """The class and its bases, nearest first; a name for a class outside the project."""
        yield from self.context.mro(cls, self)

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
                    self.context.module_of(owner), owner.attributes[attr]
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
        module = self.context.module_of(owner)
        scope = self.context.module_scope(module)
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
        key = (self.one, cls, attr, self.context.is_entered_late)
        cached = self.context.static.get(key)
        if cached is None:
            otherwise = unknown("attr", bound, attr)
            self.context.static[key] = otherwise
            module = self.context.module_of(cls)
            with self.apart(key):
                found = self.assigned_values(cls, bound, attr)
            telling = [item for item in found if not isinstance(item, Const)]
            cached = telling[0] if len(telling) == 1 else None
            if cached is not None and self.may_be_filled(cached):
                cached = otherwise
            elif cached is None or (
                isinstance(cached, Unknown) and not cached.local and len(found) == 1
            ):
                cached = self.by_name(module, attr, otherwise)
            elif isinstance(cached, Unknown):
                cached = otherwise
            self.context.static[key] = cached
        return cached

    def assigned_values(self, cls: ir.Class, bound: Value, attr: str) -> list[Value]:
        found: list[Value] = []
        for owner in self.mro(cls):
            if isinstance(owner, str):
                continue
            for function, node, index in self.context.assignments(owner, attr):
                module = self.context.module_of(owner)
                scope = self.number("self", owner, function.name)
                frame = Frame(
                    scope,
                    module,
                    function,
                    1,
                    Frame(self.context.module_scope(module), module, None, 0),
                )
                value = self.quietly(frame, partial(self.ev_unbound, node, function, bound))
                if value is not None and index is not None:
                    value = item_of(self, value, index)
                if value is None:
                    value = unknown("attr", bound, attr)
                if value not in found:
                    found.append(value)
        return found

    def ev_unbound(self, node: ir.Expr, function: ir.Function, bound: Value | None) -> Value:
        """Evaluate with the parameters of a method that is not seen to be called."""
        self.bind_unbound(function, bound)
        return self.evaluate(node)

    def bind_unbound(self, function: ir.Function, bound: Value | None) -> None:
        """Give the parameters of a function without a caller what is known about them."""
        module = self.context.module_by_key(function.module)
        for position, param in enumerate(function.params):
            key = (self.frame.scope, param.name)
            if key in self.store:
                continue
            if position == 0 and bound is not None:
                self.store[key] = bound
            else:
                self.store[key] = self.unbound_param(module, function, param)

    def bind_once(self, function: ir.Function, name: str) -> None:
        """Give a variable of a function that has been run the value that it is bound to once."""
        key = (self.frame.scope, name)
        if key in self.store:
            return
        self.store[key] = unknown("closure", function.name, name)
        found = self.context.bindings(function, name)
        node = found[0] if len(found) == 1 else None
        if isinstance(node, ir.Function):
            self.store[key] = v.func(node, self.frame.scope)
        elif isinstance(node, ir.Expr):
            for each in sorted(ir.names_in(node) & function.locals):
                self.bind_once(function, each)
            with suppress(RankDependent):
                value = self.quietly(self.frame, partial(self.evaluate, node))
                self.store[key] = self.store[key] if value is None else value

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
        if hooks.is_of_batch(function, param) or self.is_batch(module, function, param.name):
            return unknown("param", param.name, local=True)
        if isinstance(param.default, ir.Literal) and (
            param.default.value is None or _goes_beside_own_rank(module, function, param.name)
        ):
            # "no rank given" is a choice of the caller: here the parameter names another rank, as
            # it does where the function asks for its own
            hint = self.catalogue.hint(param.name)
            return v.obj(hint, self.number("hint", param.name)) if hint else otherwise
        if self.context.binds_device(function, param.name):
            return v.ranked(self.cluster.coordinates("local"))
        if "virtual" in function.name:
            return otherwise  # the chunks of a model on one rank have numbers, too
        return self.by_name(module, param.name, otherwise)

    def hook_param(self, module: Module, function: ir.Function, name: str) -> str | None:
        """The class of an argument with which a framework calls the hooks of its classes."""
        kinds = (
            self.catalogue.method_param(owner, name) for owner in self.frameworks(module, function)
        )
        return next((kind for kind in kinds if kind is not None), None)

    def is_batch(self, module: Module, function: ir.Function, name: str) -> bool:
        """Does a framework call this method with the batch of this rank here?"""
        return any(
            self.catalogue.is_batch_param(owner, name)
            for owner in self.frameworks(module, function)
        )

    def frameworks(self, module: Module, function: ir.Function) -> Iterator[str]:
        """The classes outside of the project that the class of a method derives from."""
        cls = module.class_of(function) if function.owner else None
        if cls is not None:
            yield from (owner for owner in self.mro(cls) if isinstance(owner, str))

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
            if found.name == PROCESS_GROUP:
                return v.group("unknown", unknown("param", param.name))
        return None


def _goes_beside_own_rank(module: Module, function: ir.Function, name: str, depth: int = 3) -> bool:
    """Does a function, or one to which it hands a parameter, ask for its own rank as well?"""
    if "get_rank" in function.tokens:
        return True
    return depth > 0 and any(
        called.name in function.tokens
        and any(param.name == name and param.default is not None for param in called.params)
        and _goes_beside_own_rank(module, called, name, depth - 1)
        for called in module.functions
        if called is not function
    )
