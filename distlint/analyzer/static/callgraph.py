"""Which functions code may call, by the names in it, whatever those mean to a framework."""

from __future__ import annotations

import builtins
from collections import ChainMap
from collections.abc import Collection, Iterator
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported, Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.batches import over_batches
from distlint.analyzer.static.call_names import MODEL_NAMES
from distlint.analyzer.static.class_hierarchy import open_hooks, run_by_objects
from distlint.analyzer.static.closure import Bits, Numbering, close
from distlint.analyzer.static.factories import names_in_returned
from distlint.analyzer.static.import_graph import ImportGraph
from distlint.analyzer.static.kept_values import assignments, read
from distlint.analyzer.static.mentions import Mentions, Outside, mentions_of
from distlint.analyzer.static.slicing import SliceCandidate, slice_candidate
from distlint.analyzer.static.stored_functions import stored_functions
from distlint.analyzer.static.taint import changed_by

if TYPE_CHECKING:
    pass

ALWAYS_CALLED = ("__call__", "forward", "__enter__", "__exit__", "__iter__")
BUILTINS = frozenset(dir(builtins))

SHORT = 12
"""Statements of a short function, at most."""


def callgraph_of(project: Project) -> CallGraph:
    """The one of a project: what it finds out serves all files, under any catalogue."""
    found = project.memo.get(CallGraph)
    if not isinstance(found, CallGraph):
        found = project.memo[CallGraph] = CallGraph(project)
    return found


class CallGraph:
    """Follows names from function to function, through the imports of each module."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.imports = ImportGraph(project)
        self._callable: dict[str, dict[str, list[ir.Function]]] = {}
        self._by_owner: dict[str, dict[str, list[ir.Function]]] = {}
        self._closure: dict[ir.Function, Bits] = {}
        self.numbering = Numbering()
        self._held: dict[str, dict[str, list[str]]] = {}
        self._stored: dict[str, dict[str, list[ir.Function]]] = {}
        self._stored_near: dict[str, dict[str, list[ir.Function]]] = {}
        self._short: dict[ir.Function, bool] = {}
        self._outside: dict[str, Outside] = {}
        self._hooks: dict[str, frozenset[str]] = {}
        self._mentions: dict[ir.Function, Mentions] = {}
        self._as_attribute: dict[ir.Function, bool] = {}
        self._called_by: dict[ir.Function, list[ir.Function]] = {}
        self._runs_given: dict[ir.Function, bool] = {}
        self._changes: dict[ir.Function, frozenset[str]] = {}
        self._changes_to_others: dict[ir.Function, frozenset[str]] = {}
        self._reads: dict[ir.Function, frozenset[str]] = {}
        self._batches: dict[ir.Block, frozenset[ir.For | ir.Call]] = {}

    def forget(self, keys: frozenset[str]) -> None:
        """Let go of modules that are no longer at hand."""
        by_key: tuple[dict[str, Any], ...] = (
            self._callable,
            self._by_owner,
            self._held,
            self._stored,
            self._stored_near,
            self._outside,
            self._hooks,
        )
        for key, table in product(keys, by_key):
            table.pop(key, None)
        by_function: tuple[dict[ir.Function, Any], ...] = (
            self._closure,
            self._short,
            self._mentions,
            self._as_attribute,
            self._called_by,
            self._runs_given,
            self._changes,
            self._changes_to_others,
            self._reads,
        )
        for known in by_function:
            for function in [each for each in known if each.module in keys]:
                del known[function]
        self.imports.forget(keys)
        self._batches.clear()

    def called_by(self, function: ir.Function) -> list[ir.Function]:
        found = self._called_by.get(function)
        if found is None:
            found = self._called_by[function] = list(self._callees_of(function))
        return found

    def _callees_of(self, function: ir.Function) -> Iterator[ir.Function]:
        mentions = self.mentioned_by(function)
        members = mentions.members
        if function.owner and "__init__" in members:
            members = members - {"__init__"} | self.bases(function)
        names = self.imports.unaliased(function.module, mentions.names)
        members = self.imports.unaliased(function.module, members)
        table = self.callable_from(function.module)
        around = frozenset(self.around(function))
        for name in sorted((names | members) & table.keys()):  # in one order, whatever the hashes
            own = name in mentions.names and self._defines(function.module, name)
            for found in table[name]:
                if (name in names and self._is_named(found, name, around, own)) or (
                    name in members and self._is_member(found)
                ):
                    yield found
        methods = self._methods(function.module)
        made = self.imports.unaliased(function.module, names_in_returned(function))
        for cls in sorted(made & methods.keys()):
            yield from methods[cls]
        held = self.held(function.module)
        for attribute in sorted(held.keys() & self.reads(function)) if held else ():
            yield from self.run_by_attribute(function.module, attribute)
        stored = self._stored_for(function.module)
        for name in sorted(stored.keys() & self.reads(function)) if stored else ():
            yield from stored[name]

    def _is_named(
        self, found: ir.Function, name: str, around: Collection[ir.Function], own: bool
    ) -> bool:
        """May a name that stands alone lead to a function? ``own``: it is its module's own."""
        if found.nested:
            return self._enclosing(found) in around
        if found.owner:
            return found.owner == name
        return not own or any(found.module == each.module for each in around)

    def _defines(self, key: str, name: str) -> bool:
        """Is a name of a module one of its own functions or classes, and nothing else?"""
        module = self.project.by_key(key)
        found = module.definitions.get(name, ()) if module is not None else ()
        return bool(found) and not any(isinstance(each.node, Imported) for each in found)

    def _is_member(self, found: ir.Function) -> bool:
        """May an attribute of its name lead to a function? To one in a function where it is made
        an attribute, or passed by its name."""
        if not found.nested:
            return True
        known = self._as_attribute.get(found)
        if known is None:
            around = self._enclosing(found)
            known = around is None or _is_made_member(around, found.name)
            self._as_attribute[found] = known
        return known

    def _enclosing(self, function: ir.Function) -> ir.Function | None:
        module = self.project.by_key(function.module)
        return module.enclosing.get(function) if module is not None else None

    def _stored_for(self, key: str) -> dict[str, list[ir.Function]]:
        """The functions in the attributes and globals of a module and of those it imports."""
        found = self._stored_near.get(key)
        if found is None:
            found = self._stored_near[key] = {}
            module = self.project.by_key(key)
            for each in (module, *self.imports.imported(module)) if module is not None else ():
                for name, functions in self._stored_in(each).items():
                    found.setdefault(name, []).extend(functions)
        return found

    def _stored_in(self, module: Module) -> dict[str, list[ir.Function]]:
        found = self._stored.get(module.key)
        if found is None:
            table = self.callable_from(module.key)
            aliases = self.imports.aliases(module.key)

            def named(name: str) -> list[ir.Function]:
                known = table.get(aliases.get(name, name), ())
                return [each for each in known if not (each.owner or each.nested)]

            found = self._stored[module.key] = stored_functions(module, named)
        return found

    def _methods(self, key: str) -> dict[str, list[ir.Function]]:
        """The methods that code of a module may call on an object, by the name of its class."""
        found = self._by_owner.get(key)
        if found is None:
            found = self._by_owner[key] = {}
            for function in chain(*self.callable_from(key).values()):
                if function.owner and function not in found.setdefault(function.owner, []):
                    found[function.owner].append(function)
        return found

    def run_by_attribute(self, key: str, attribute: str) -> Iterator[ir.Function]:
        """What calling, entering or iterating over the objects in ``.attribute`` runs."""
        table = self.callable_from(key)
        for cls in self.held(key).get(attribute, ()):
            yield from (each for each in table.get(cls, ()) if each.name in ALWAYS_CALLED)
        yield from self._stored_for(key).get(attribute, ())

    def held(self, key: str) -> dict[str, list[str]]:
        """The classes in what methods assign to attributes, by ``.attribute``, and in the globals
        of a module and of those that it imports.
        """
        found = self._held.get(key)
        if found is None:
            found = self._held[key] = {}
            module = self.project.by_key(key)
            owners = {each.owner for each in chain(*self.callable_from(key).values())} - {""}
            methods = [each for each in module.functions if each.owner] if module else []
            kept = [each for each in assignments(methods, ()) if each[0].startswith(".")]
            for each in (module, *self.imports.imported(module)) if module is not None else ():
                kept += assignments((), each.body)
            for name, value in kept:
                made = self.imports.unaliased(key, ir.tokens_of(value)) & owners
                if made:
                    found[name] = sorted(made.union(found.get(name, ())))
        return found

    def mentioned_by(self, function: ir.Function) -> Mentions:
        """The names under which a function may come to others."""
        found = self._mentions.get(function)
        if found is None:
            package_of = self._outside_of(function.module).seen_from(self.around(function))
            found = self._mentions[function] = mentions_of(function, package_of)
        return found

    def _outside_of(self, key: str) -> Outside:
        found = self._outside.get(key)
        if found is None:
            module = self.project.by_key(key)
            assert module is not None  # a function of it is at hand
            find = self.project.find
            found = Outside(module, lambda dotted: find(dotted, module.path) is not None)
            self._outside[key] = found
        return found

    def is_short(self, function: ir.Function) -> bool:
        """Is there next to nothing in it, such as a wrapper around one call?"""
        known = self._short.get(function)
        if known is None:
            beyond = islice(ir.statements_of(function.body), SHORT, None)
            known = self._short[function] = next(beyond, None) is None
        return known

    def callees(self, key: str, tokens: frozenset[str]) -> list[ir.Function]:
        """Functions that code of a module may call, by the names that it mentions."""
        table = self.callable_from(key)
        found: list[ir.Function] = []
        for name in sorted(tokens & table.keys()):  # in one order, whatever the hashes
            found.extend(table[name])
        return found

    def callable_from(self, key: str) -> dict[str, list[ir.Function]]:
        """Functions and methods of a module and of the project modules it imports, by name."""
        table = self._callable.get(key)
        if table is not None:
            return table
        table = {}
        self._callable[key] = table
        module = self.project.by_key(key)
        if module is None:
            return table
        mentioned = self.imports.unaliased(key, module.tokens | module.classes.keys())
        for found in (module, *self.imports.imported(module)):
            for function in found.functions:
                table.setdefault(function.name, []).append(function)
                if function.name == "__init__" and function.owner:
                    table.setdefault(function.owner, []).append(function)
                if function.name in ALWAYS_CALLED and function.owner:
                    table.setdefault(function.owner, []).append(function)
            # the lineage of all classes in sight would lead through a whole library
            for cls in found.classes.values():
                if cls.name in mentioned:
                    inherited = table.setdefault(cls.name, [])
                    inherited += [e for e in run_by_objects(found, cls) if e not in inherited]
        return table

    def open_hooks(self, key: str) -> frozenset[str]:
        """The methods that classes of a module call on themselves and leave to others."""
        known = self._hooks.get(key)
        if known is None:
            module = self.project.by_key(key)
            known = self._hooks[key] = open_hooks(module) if module else frozenset()
        return known

    def bases(self, method: ir.Function) -> frozenset[str]:
        """The names of the classes above that of a method, as far as the project tells."""
        module = self.project.by_key(method.module)
        if module is None:
            return frozenset()
        known = ChainMap(
            module.classes, *(other.classes for other in self.imports.imported(module))
        )
        found: set[str] = set()
        stack = [method.owner]
        while stack:
            cls = known.get(stack.pop())
            names = {ir.last_name(base) for base in cls.bases} if cls is not None else set()
            stack.extend(names - found)
            found |= names
        return frozenset(found)

    def of_block(self, module: Module, tokens: frozenset[str]) -> Bits:
        """Every name mentioned in code outside any function, and in what it may call."""
        tokens = self.imports.unaliased(module.key, tokens)
        found = self.numbering.of(tokens)
        for function in self.callees(module.key, tokens):
            found |= self.names_in(function)
        return found

    def names_in(self, function: ir.Function) -> Bits:
        """Every name mentioned in a function, and in what it may call."""
        known = self._closure
        return close(function, self.called_by, self._own_names, known.get, known.__setitem__)

    def _own_names(self, function: ir.Function) -> Bits:
        return self.numbering.of(self.imports.unaliased(function.module, function.tokens))

    def mentions(self, function: ir.Function, names: Collection[str]) -> list[str]:
        """Those of the names that a function mentions, or what it may call."""
        found = self.names_in(function)
        return [name for name in names if self.numbering.has(found, name)]

    def counts(self, function: ir.Function) -> bool:
        """Does it name a variable with which its module counts?"""
        module = self.project.by_key(function.module)
        return module is not None and not module.counters.isdisjoint(function.tokens)

    def runs_given(self, function: ir.Function) -> bool:
        """Does a function run what it is given, perhaps a wrapped model? Or one that it calls?"""
        known = self._runs_given.get(function)
        if known is None:
            self._runs_given[function] = False
            names = {param.name for each in self.around(function) for param in each.params}
            known = any(_runs(statement, names) for statement in function.body) or any(
                self.runs_given(item) for item in self.called_by(function)
            )
            self._runs_given[function] = known
        return known

    def around(self, function: ir.Function) -> Iterator[ir.Function]:
        """A function and those in which it is defined, whose variables it may read."""
        module = self.project.by_key(function.module)
        inner: ir.Function | None = function
        while inner is not None:
            yield inner
            inner = module.enclosing.get(inner) if module is not None else None

    def changes(self, function: ir.Function) -> frozenset[str]:
        """What it, or a function that it may call, changes besides its own variables."""
        known = self._changes.get(function)
        if known is None:
            self._changes[function] = frozenset()  # where it calls itself
            called = map(self.changes_to_others, self.called_by(function))
            self._changes[function] = known = changed_by(function).union(*called)
        return known

    def changes_to_others(self, function: ir.Function) -> frozenset[str]:
        """The same without the attributes that a constructor gives its object, which is new."""
        if function.name != "__init__":
            return self.changes(function)
        known = self._changes_to_others.get(function)
        if known is None:
            self._changes_to_others[function] = frozenset()
            called = map(self.changes_to_others, self.called_by(function))
            known = changed_by(function, but_for_new=True).union(*called)
            self._changes_to_others[function] = known
        return known

    def over_batches(self, module: Module, body: ir.Block) -> frozenset[ir.For | ir.Call]:
        """The loops over batches in a body, and what fetches one, in a module of several ranks."""
        known = self._batches.get(body)
        if known is None:
            known = frozenset()
            if module.is_of_several_ranks:
                known = over_batches(
                    body, lambda name: self.callable_from(module.key).get(name, ())
                )
            self._batches[body] = known
        return known

    def reads(self, function: ir.Function) -> frozenset[str]:
        """The attributes and globals that a function reads."""
        known = self._reads.get(function)
        if known is None:
            known = self._reads[function] = read(function)
        return known

    def is_fed(self, function: ir.Function) -> bool:
        """Does a function go over batches of this rank's own?"""
        module = self.project.by_key(function.module)
        return module is not None and bool(self.over_batches(module, function.body))

    def is_external(self, module: Module, callee: ir.Expr) -> bool:
        """Does a callee begin with an import from outside the project, or a builtin?"""
        while isinstance(callee, ir.Attribute):
            callee = callee.value
        if not isinstance(callee, ir.Name):
            return False
        definitions = module.definitions.get(callee.id)
        if not definitions:
            return callee.id in BUILTINS
        return all(
            isinstance(definition.node, Imported)
            and self.project.find(definition.node.dotted, module.path) is None
            for definition in definitions
        )

    def slice_candidate(self, module: Module) -> SliceCandidate:
        """What the statements of a module write and read; it depends on the module alone."""
        drawn = self.project.memo.get(module)
        if not isinstance(drawn, SliceCandidate):
            drawn = self.project.memo[module] = slice_candidate(module, self.is_external)
        return drawn


def _is_made_member(function: ir.Function, name: str) -> bool:
    """Is a name in a function that of an attribute, of an argument or in quotes as well?"""
    stack: list[Any] = list(function.body)
    while stack:
        item = stack.pop()
        if name in {
            getattr(item, "attr", None),
            getattr(item, "keyword", None),
            getattr(item, "value", None) if isinstance(item, ir.Literal) else None,
        }:
            return True
        stack.extend(ir.children(item))
    return False


def _runs(node: object, params: set[str]) -> bool:
    """Is a parameter called, or an attribute with the name of a model?"""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ir.Call):
            func = item.func
            if isinstance(func, ir.Name) and func.id in params:
                return True
            name = func.attr.lower() if isinstance(func, ir.Attribute) else ""
            if name.endswith(MODEL_NAMES) or name == "generate":
                return True
        stack.extend(ir.children(item))
    return False
