"""Whether a condition may hold on some ranks only, by its words or by the values of its flags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from weakref import WeakKeyDictionary

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported, Module
from distlint.analyzer.static.callers import calls_within
from distlint.analyzer.static.callgraph import SHORT
from distlint.analyzer.static.guards.assignments import Assignments
from distlint.analyzer.static.guards.process_groups import makes_group
from distlint.analyzer.static.guards.rank_tests import (
    RANK,
    asks_rank,
    may_name_rank,
    rank_words,
    under_rank_test,
)
from distlint.analyzer.static.kept_values import assignments
from distlint.analyzer.static.names import Scope, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.source.requirements import is_beside

_MANY = re.compile(
    r"distrib|ddp|world|multi_?(gpu|proc|node)|n_?gpus?\b|num_gpus|initialized|parallel|num_proc"
    r"|num_machines|no_cuda|^gpu|^standalone$",
    re.IGNORECASE,
)
"""Words of a test that distinguishes a run of one process from a run of many."""
_DEVICE_NUMBER = "current_device"
"""What distinguishes the ranks of a node, once each has set its device."""
_WRITES = re.compile(r"save|write|dump|log|checkpoint|ckpt", re.IGNORECASE)
_DEPTH = 4
"""How many names and calls are followed from a flag to its value."""


Elsewhere = Callable[[ir.Function], "list[tuple[RankFlags, CallSite]]"]
"""The calls of a function of the module in other files, with the flags of these."""


class RankFlags:
    """The flags of one module, which may stand for a test of the rank where they are tested."""

    def __init__(self, objects: Objects, assignments: Assignments, elsewhere: Elsewhere) -> None:
        self._objects = objects
        self._elsewhere = elsewhere
        self._module = objects.module
        self._assignments = assignments

    def may_differ(self, test: ir.Expr, scope: Scope) -> bool:
        """May a condition hold on some ranks only, or in a run of one process only?"""
        if isinstance(test, ir.Name) and self._is_function(test.id):
            if not self._is_bound_in(scope, test.id):
                return False  # forgot to call it: it always holds
        tokens = ir.tokens_of(test)
        if asks_rank(test) or _DEVICE_NUMBER in tokens or any(map(_MANY.search, tokens)):
            return True
        return any(
            self._item_may_differ(flag.index.value)
            if isinstance(flag, ir.Subscript) and isinstance(flag.index, ir.Literal)
            else self._flag_may_differ(flag, scope, _DEPTH)
            for flag in _flags(test)
        )

    def _item_may_differ(self, key: object) -> bool:
        """Is an item of a dict under this key a test of the rank, as the module fills it?"""
        return any(
            RANK.search(token) or _MANY.search(token)
            for value in self._items.get(key, ())
            for token in ir.tokens_of(value)
        )

    @cached_property
    def _items(self) -> dict[object, list[ir.Expr]]:
        """What the module puts into dicts, by the keys."""
        found: dict[object, list[ir.Expr]] = {}
        for display, _ in self._objects.nodes(ir.DictDisplay):
            for key, value in zip(display.keys, display.values, strict=True):
                if isinstance(key, ir.Literal):
                    found.setdefault(key.value, []).append(value)
        for call, _ in self._objects.nodes(ir.Call):
            if path_of(call.func) == ("dict",):
                for argument in call.args:
                    found.setdefault(argument.keyword, []).append(argument.value)
        for point in self._objects.points:
            put = point.statement
            for target in put.targets if isinstance(put, ir.Assign) else ():
                if isinstance(target, ir.Subscript) and isinstance(target.index, ir.Literal):
                    assert isinstance(put, ir.Assign)
                    found.setdefault(target.index.value, []).append(put.value)
        return found

    def _flag_may_differ(self, flag: ir.Expr, scope: Scope, depth: int) -> bool:
        """May a name that is tested for truth stand for a rank test?"""
        name = ir.last_name(flag)
        if isinstance(flag, ir.Name) and scope.has_param(name):
            if not self._is_given_alike(name, scope, depth):
                return "best" not in name
            bound = [each for each in self._assignments.to(name) if each[1].scope is scope]
            return self._any_may_differ(name, bound, depth)
        if (name, id(scope.function)) in self._raised:
            return True
        if isinstance(flag, ir.Attribute) and self._is_set_by_rank(name):
            return True
        if self._any_may_differ(name, self._assignments.to(name), depth):
            return True
        path = path_of(flag)
        if path is not None and len(path) > 1 and scope.has_param(path[0]):
            if not self._assignments.to(name) and self._is_raised_beside(name):
                return True
        if any(
            may_name_rank(function.tokens)
            for function in self._module.functions
            if function.name == name
        ):
            return True
        return self._module.aliases.get(name, name) in self._flags_elsewhere

    def _any_may_differ(
        self, name: str, bound: Sequence[tuple[ir.Expr, Point]], depth: int
    ) -> bool:
        """May what is assigned to a name be that of some ranks?"""
        for value, where in bound:
            if any(RANK.search(t) or _MANY.search(t) for t in ir.tokens_of(value)):
                if not self._is_object(value, where):
                    return True
            if isinstance(value, ir.Name) and where.scope.has_param(value.id):
                if not depth or not self._is_given_alike(value.id, where.scope, depth - 1):
                    return True
                continue
            if depth and isinstance(value, (ir.Name, ir.Attribute)) and ir.last_name(value) != name:
                if self._flag_may_differ(value, where.scope, depth - 1):
                    return True
        return False

    def _is_object(self, value: ir.Expr, point: Point) -> bool:
        """Is a value made of a class, and so there on all ranks: ``DDP(net, device_ids=[rank])``?

        Or is it what another variable holds, moved to a device?
        """
        if not isinstance(value, ir.Call):
            return False
        objects = objects_across(self._module, self._objects.catalogue)
        return all(
            each.site.name[:1].isupper()
            if each.site is not None
            else isinstance(each.node, (ir.Name, ir.Attribute))
            and not may_name_rank(ir.tokens_of(each.node))
            for each in objects.origins(value, point)
        )

    @cached_property
    def _flags_elsewhere(self) -> frozenset[str]:
        """The names of tests of the rank in the files that the module imports, however far."""
        imported = self._module.import_closure()[1:]
        return frozenset[str]().union(*map(flags_of, imported))

    def _is_given_alike(self, name: str, scope: Scope, depth: int) -> bool:
        """Is a parameter the same on all ranks: by each caller, or as there are none yet?

        They begin to be where the function makes the process group, itself or by a helper.
        """
        function = scope.function
        assert function is not None
        if rank_words((name,)):
            return False
        passed = [
            self._passed(each, name, function) for each in calls_within(self._objects, function)
        ]
        differing = any(
            value is not None and self._value_may_differ(value, point, depth)
            for value, point in passed
        )
        if differing or makes_group(function, self._module):
            return not differing
        for flags, each in self._elsewhere(function) if not passed else ():
            value, point = flags._passed(each, name, function)
            if value is not None and flags._looks_different(value, point, depth):
                return False
            passed.append((value, point))
        return bool(passed) and all(value is not None for value, _ in passed)

    def _passed(
        self, caller: CallSite, name: str, function: ir.Function
    ) -> tuple[ir.Expr | None, Point]:
        """What a call passes for a parameter, or its default; None where that is not known."""
        param = next(each for each in function.params if each.name == name)
        places = [each.name for each in function.params if not each.star]
        position = None if param.keyword_only or param.star else places.index(name)
        if position is not None and function.owner:
            position -= 1
        given = self._objects.argument(caller, name, position)
        if given.absent:
            return param.default, caller.point
        return given.value, caller.point

    def _value_may_differ(self, value: ir.Expr, point: Point, depth: int) -> bool:
        """May a value that is passed for a flag be that of some ranks?"""
        if isinstance(value, ir.Literal):
            return False
        if isinstance(value, (ir.Name, ir.Attribute)) and depth:
            if rank_words(ir.tokens_of(value)):
                return True
            return self._flag_may_differ(value, point.scope, depth - 1)
        return True

    def _looks_different(self, value: ir.Expr, point: Point, depth: int) -> bool:
        """Is a value that another file passes for a flag that of some ranks, by its words?"""
        if isinstance(value, (ir.Name, ir.Attribute)):
            return self._value_may_differ(value, point, depth)
        if may_name_rank(ir.tokens_of(value)):
            return True
        names = (each for each in _flags(value) if isinstance(each, (ir.Name, ir.Attribute)))
        return any(self._value_may_differ(each, point, depth) for each in names)

    def _is_raised_beside(self, name: str) -> bool:
        """Does a script beside it, which imports the file, set an option to write by the rank?"""
        if not _WRITES.search(name):
            return False
        path = self._module.path
        imports = rf"(?m)^\s*(?:from|import)\s[^\n#]*\b{re.escape(path.stem)}\b"
        sets = rf"(?i)\.{re.escape(name)}\s*=[^=\n][^\n]*(?:{RANK.pattern})"
        return is_beside(path, imports, sets)

    def _is_bound_in(self, scope: Scope, name: str) -> bool:
        """Is it a parameter or a variable of a function, whatever the module has by that name?"""
        if scope.function is None:
            return False
        bound = (point.scope is scope for _, point in self._assignments.to(name))
        return scope.has_param(name) or any(bound)

    def _is_function(self, name: str) -> bool:
        """Is it a function, by its definition, or as an import that is called ``is_...``?"""
        there = self._module.lead_to(name)
        if there is not None:
            return isinstance(there[1], ir.Function)
        definitions = self._module.definitions.get(name, ())
        return bool(definitions) and all(
            isinstance(definition.node, ir.Function)
            or (isinstance(definition.node, Imported) and name.startswith("is_"))
            for definition in definitions
        )

    @cached_property
    def _raised(self) -> frozenset[tuple[str, int]]:
        """Flags of a function: what it sets to a constant under a test of the rank."""
        return frozenset(
            (target.id, id(scope.function))
            for scope in self._objects.names.scopes
            for statement, around in placed(scope.body)
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Literal)
            for target in statement.targets
            if isinstance(target, ir.Name) and under_rank_test(around)
        )

    def _is_set_by_rank(self, name: str) -> bool:
        """Is an attribute set under tests of the rank only, but for False or None elsewhere?"""
        places = [
            where
            for value, where in self._assignments.to_attribute(name)
            if not isinstance(value, ir.Literal) or value.value
        ]
        return bool(places) and all(under_rank_test(where.around) for where in places)


_FLAGS: WeakKeyDictionary[Module, frozenset[str]] = WeakKeyDictionary()


def flags_of(module: Module) -> frozenset[str]:
    """The names under which another file may find a test of the rank in a module: short functions,
    methods and properties that ask for it, attributes and globals that keep it.
    """
    known = _FLAGS.get(module)
    if known is None:
        kept = assignments(module.functions, module.body)
        asking = (each for each in module.functions if _is_short(each))
        known = _FLAGS[module] = frozenset(
            [each.name for each in asking if rank_words(each.tokens)]
            + [name.removeprefix(".") for name, value in kept if rank_words(ir.tokens_of(value))]
        )
    return known


def _is_short(function: ir.Function) -> bool:
    return next(islice(ir.statements_of(function.body), SHORT, None), None) is None


def _flags(test: ir.Expr) -> Iterator[ir.Expr]:
    """The names that a condition takes for true or false."""
    is_item = isinstance(test, ir.Subscript) and isinstance(test.index, ir.Literal)
    if is_item or isinstance(test, (ir.Name, ir.Attribute)):
        yield test
    elif isinstance(test, ir.Call):
        yield test.func
    elif isinstance(test, ir.Not):
        yield from _flags(test.value)
    elif isinstance(test, ir.BoolOp):
        for value in test.values:
            yield from _flags(value)
    elif isinstance(test, ir.Compare) and all(op in ("is", "is not", "==") for op in test.ops):
        if all(map(_may_be_flag, test.rights)):
            yield from _flags(test.left)


def _may_be_flag(value: ir.Expr) -> bool:
    """May what is compared with it be a flag, or the rank: no ``256``?"""
    if not isinstance(value, ir.Literal):
        return False
    return not isinstance(value.value, (int, float)) or value.value in (0, 1)
