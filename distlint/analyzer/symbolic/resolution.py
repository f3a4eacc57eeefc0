"""What names and attributes stand for: variables, imports, objects, and names that tell a rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial

from distlint.analyzer import ir
from distlint.analyzer.project.module import Definition, Imported, Module
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.interpreter import Interpreter
from distlint.analyzer.symbolic.parameters import ev_unbound
from distlint.analyzer.symbolic.rank_numbers import rank_value, uniform_value
from distlint.analyzer.symbolic.state import (
    BranchUndecided,
    CallRequested,
    CollectiveReached,
    Frame,
    RankDependent,
)
from distlint.analyzer.symbolic.subscripts import item_of
from distlint.analyzer.symbolic.values import Const, Value, const, unknown
from distlint.source.incomplete import Reason


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
            if not self.may_bind(module, dotted, name, set()):
                continue
            found = self.imported(module, dotted, name)
            if found is not None and not (isinstance(found, v.External) and "." in dotted[:1]):
                if not isinstance(found, v.External) or self.catalogue.lookup(found.name):
                    return found
        return self.by_name(module, name, unknown("global", module.key, name))

    def may_bind(self, module: Module, dotted: str, name: str, seen: set[str]) -> bool:
        """May ``from dotted import *`` bind a name? A file that is not at hand may.

        A file of the project does if it defines the name, or by a star import in it.
        """
        path = self.context.find_module(dotted, module)
        target = self.context.module(str(path)) if path is not None else None
        if target is None:
            return not seen or self.catalogue.lookup(f"{dotted}.{name}") is not None
        if target.key in seen:
            return False
        seen.add(target.key)
        if name in target.definitions or self.context.submodule(target, name) is not None:
            return True
        return any(self.may_bind(target, each, name, seen) for each in target.star_imports)

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
            # nor is a function that does nothing, for runs of one process
            doing = [item for item in found if self._does_something(item)]
            found = doing if doing and all(isinstance(item, v.Func) for item in found) else found
        if len(found) != 1 or self.may_be_filled(found[0]):
            return unknown("global", module.key, name)
        return found[0]

    def set_by_functions(self, module: Module, name: str) -> list[Value]:
        """What functions of a module assign to a global of it."""
        found: list[Value] = []
        for function, node, index in self.context.shapes.assigned_to_global(module, name):
            scope = self.number("global", function.name)
            outer = Frame(self.context.module_scope(module), module, None, 0)
            frame = Frame(scope, module, function, 1, outer)
            value = self.quietly(frame, partial(ev_unbound, self, node, function, None))
            if value is not None and index is not None:
                value = item_of(self, value, index)
            found.append(unknown("global", module.key, name) if value is None else value)
        return found

    def may_be_filled(self, value: Value) -> bool:
        """Is it an empty container, into which something may have been put by now?"""
        return self.context.is_entered_late and v.is_empty_container(value)

    def _does_something(self, value: Value) -> bool:
        return isinstance(value, v.Func) and self.context.does_something(value.function)

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
        below = self.context.submodule(target, attr)
        if below is None or (attr in target.definitions and not target.has_submodule(attr)):
            return self.global_name(target, attr)
        return v.module_ref(str(below))

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
