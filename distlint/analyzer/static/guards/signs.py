"""What in a function shows that several processes run it: rank tests, collectives, wraps."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.callers import calls_within
from distlint.analyzer.static.guards.dominating_conditions import DominatingConditions
from distlint.analyzer.static.guards.launchers import Launchers
from distlint.analyzer.static.guards.process_groups import is_distributed, wraps
from distlint.analyzer.static.guards.rank_option import RankOption
from distlint.analyzer.static.guards.rank_tests import shows_ranks, under_rank_test
from distlint.analyzer.static.guards.world_size import WorldSize
from distlint.analyzer.static.names import Scope, calls_of, keywords_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.catalogue.entries import ClassInfo, Collective

_RANK_PARAM = re.compile(r"^((local|global|proc|process|worker|ddp)_?)?rank$|^gpu$|^local_process")
_DEVICES = frozenset({"num_nodes", "devices", "strategy"})
_RUN_BY_ALL = re.compile(r"^main|^on_")
"""Names of functions that a launcher or a framework runs on all ranks."""
_JOINING = frozenset(
    {
        "init_process_group", "DistributedDataParallel", "DDP", "FSDP", "FullyShardedDataParallel",
        "Accelerator", "prepare", "barrier", "all_reduce", "all_gather", "broadcast", "get_rank",
        "get_world_size", "wait_for_everyone", "init_distributed", "initialize", "PartialState",
        "fully_shard", "broadcast_object_list", "all_gather_object", "gather", "reduce", "Fabric",
        "init_device_mesh", "new_group",
    }
)  # fmt: skip


class Signs:
    """The signs of several processes in one module."""

    def __init__(
        self,
        objects: Objects,
        conditions: DominatingConditions,
        world_size: WorldSize,
        launchers: Launchers,
    ) -> None:
        self._objects = objects
        self._names = objects.names
        self._conditions = conditions
        self._world_size = world_size
        self._launchers = launchers
        self._rank_option = RankOption(objects)

    def are_in(self, scope: Scope) -> bool:
        """Is there a sign in a scope that nothing keeps any rank from?"""
        if not is_distributed(self._objects.module):
            return False
        function = scope.function
        if function is not None and any(_RANK_PARAM.search(p.name) for p in function.params):
            return True
        if self._world_size.runs_alone(scope):
            return False
        return any(
            (self._is_sign(Point(scope, around)) and not self._conditions.guard(scope, around))
            or (wraps(statement) and not under_rank_test(around))
            for statement, around in placed(scope.body)
        )

    def hook_of(self, scope: Scope) -> ClassInfo | None:
        """The class of a framework that calls a method on all ranks, where it stands in one that
        derives from it."""
        method = scope.function
        if method is None or not method.owner:
            return None
        for cls in self._objects.classes.lineage(method):
            for base in cls.bases:
                kind = self._names.dotted(base, self._names.scopes[0])
                for info in self._objects.catalogue.classes(kind) if kind else ():
                    if any(fnmatchcase(method.name, each) for each in info.hooks_on_all):
                        return info
        return None

    def makes_many(self, runner: str) -> bool:
        """Does the module make one of a class of a framework that runs hooks, for several
        processes?"""
        return any(
            (entry := self._names.entry(site.call.func, site.point.scope)) is not None
            and entry.cls is not None
            and entry.cls.name == runner
            and self._is_for_many_devices(site.call, site.point)
            for site in self._objects.calls({runner.rpartition(".")[2]})
        )

    def _is_sign(self, point: Point) -> bool:
        """Is it something that only several processes do: a rank test, a collective, a wrap?"""
        statement, scope = point.statement, point.scope
        if isinstance(statement, ir.If) and shows_ranks(statement.test):
            if self._is_run_here(scope):
                return True
        if isinstance(statement, ir.Assign) and "LOCAL_RANK" in ir.tokens_of(statement):
            if not _is_for_a_child(statement):
                return True
        for call in calls_of(statement):
            site = CallSite(call, point)
            if self._rank_option.is_declared_by(site) or _is_wait_of_its_own(call):
                return True
            if self.is_for_many(site):
                return True
            name = site.name
            entry = self._names.entry(call.func, scope) if name in _JOINING else None
            if entry is not None and entry.rank and self._is_run_here(scope):
                return True
        return False

    def is_for_many(self, site: CallSite) -> bool:
        """Is it a call that only processes of a run of several make, or what makes these?"""
        call, name = site.call, site.name
        return (
            self._is_trainer_of_many(call, site.point)
            or self._is_given_for_many(call, site.point.scope)
            or (name == "save_checkpoint" and "tag" in keywords_of(call))  # DeepSpeed's
            or name.endswith("consolidated_16bit_state_dict")  # DeepSpeed's, too
            or self._is_joining(site)
        )

    def _is_trainer_of_many(self, call: ir.Call, point: Point) -> bool:
        """Is it Lightning's ``Trainer``, for several processes that run the whole script?"""
        return (
            ir.last_name(call.func) == "Trainer"
            and not self._launchers.is_notebook  # there they are forked for ``fit``
            and self._is_for_many_devices(call, point)
            and not self._world_size.forks_to_fit(call, point)
        )

    def _is_for_many_devices(self, call: ir.Call, point: Point) -> bool:
        return not (
            _DEVICES.isdisjoint(keywords_of(call)) or self._world_size.is_on_one_device(call, point)
        )

    def _is_given_for_many(self, call: ir.Call, scope: Scope) -> bool:
        """Is a constructor given something that only runs of several processes need?"""
        entry = self._names.entry(call.func, scope)
        if entry is None or entry.cls is None:
            return False
        wanted = {
            each
            for info in self._objects.catalogue.classes(entry.cls.name)
            for each in info.many_with
        }
        return any(
            each.keyword in wanted
            and not (isinstance(each.value, ir.Literal) and each.value.value in (None, ""))
            for each in call.args
        )

    def _is_joining(self, site: CallSite) -> bool:
        """Does a call make a process group, or something that only processes of one do?"""
        name = site.name
        joining = self._objects.catalogue.joining_names
        if name in _JOINING or name in joining or name.endswith("state_dict"):
            if not self._world_size.is_on_one_device(site.call, site.point):
                entry = self._names.entry(site.call.func, site.point.scope)
                if entry is not None and (entry.collective or entry.cls):
                    return not self._may_be_alone(entry.collective)
        return False

    def _may_be_alone(self, row: Collective | None) -> bool:
        """Does it also work in one process, and uses the module nothing else of its framework?"""
        return row is not None and row.alone and row.framework not in self._frameworks_used

    @cached_property
    def _frameworks_used(self) -> frozenset[str]:
        """The frameworks of which the module uses more than what begins and ends a run."""
        nodes = [(call.func, point) for call, point in self._objects.nodes(ir.Call)]
        found = set()
        for node, point in (*nodes, *self._objects.nodes(ir.Attribute)):
            entry = self._names.entry(node, point.scope)
            for row in (entry.collective, entry.rank, entry.uniform, entry.cls) if entry else ():
                is_end = isinstance(row, Collective) and row.kind in ("init", "destroy")
                if row is not None and not is_end:
                    found.add(row.framework)
        return frozenset(found)

    def _is_run_here(self, scope: Scope) -> bool:
        """Does the module show who runs a function, or is it one that all ranks run?

        Where only other files call it, it may be for rank 0 alone, whatever it asks itself.
        """
        function = scope.function
        return (
            function is None
            or _RUN_BY_ALL.search(function.name) is not None
            or "backward" in function.tokens
            or function.name in self._launchers.handed_on
            or any(True for _ in calls_within(self._objects, function))
        )

    def trains_wrapped(self, scope: Scope) -> bool:
        """Does a method train what the constructor of its class wraps for several processes?"""
        method = scope.function
        if method is None or not method.owner:
            return False
        classes = self._objects.classes.lineage(method)
        constructors = [each.methods["__init__"] for each in classes if "__init__" in each.methods]
        if not any(
            wraps(statement) and not under_rank_test(around)
            for constructor in constructors
            for statement, around in placed(constructor.body)
        ):
            return False
        called = (m for cls in classes for name, m in cls.methods.items() if name in method.tokens)
        return any("backward" in each.tokens for each in (method, *called))


def _is_for_a_child(statement: ir.Assign) -> bool:
    """Does a launcher put the rank into the variables of a process that it is about to start?"""
    return "LOCAL_RANK" not in ir.tokens_of(statement.value) and all(
        isinstance(target, ir.Subscript) and "environ" not in ir.tokens_of(target.value)
        for target in statement.targets
    )


def _is_wait_of_its_own(call: ir.Call) -> bool:
    """Is it ``self.wait_for_everyone()``, in the class of a framework that has such a method?"""
    return (
        isinstance(call.func, ir.Attribute)
        and call.func.attr == "wait_for_everyone"
        and isinstance(call.func.value, ir.Name)
        and call.func.value.id == "self"
    )
