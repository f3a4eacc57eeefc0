"""Whether there is only one process, by what a module says about devices, nodes and groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.guards.process_groups import wraps
from distlint.analyzer.static.names import Around, Scope, calls_of, keywords_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

_JOINS = re.compile(
    r"init_process_group|init.*(?:dist|ddp|group|nccl|mpi|env)|(?:dist|ddp|nccl|mpi).*init|setup"
    r"|set_up|launch|spawn|initialize|accelerat|PartialState|Fabric|Trainer|deepspeed|horovod|hvd"
    r"|lightning|mpu|ignite",
    re.IGNORECASE,
)
"""Words of what may make a process group, here or in a library."""
_FORKS_TO_FIT = re.compile(r"^ddp_(?:spawn|fork|notebook)")
"""Strategies of Lightning by which the other processes live no longer than ``fit``."""
_NAMESPACES = frozenset({"Namespace", "SimpleNamespace"})
_ALONE = frozenset({"Fabric", "DataParallel"})
_DATA_PARALLEL = frozenset({"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"})


class WorldSize:
    """What one module says about the number of processes."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._module = objects.module

    def runs_alone(self, scope: Scope) -> bool:
        """Is there one process by a scope's own words: ``Fabric(devices=1)``, ``DataParallel``?"""
        if self._makes_only_groups_of_one or self._never_joins:
            return True
        return not _ALONE.isdisjoint(self._module.tokens) and any(
            (
                ir.last_name(call.func) == "Fabric"
                and self.is_on_one_device(call, Point(scope, around))
            )
            or self._takes_all_gpus(call, scope, around)
            for statement, around in placed(scope.body)
            for call in calls_of(statement)
        )

    def makes_group_of_one(self, site: CallSite) -> bool:
        """Does a call make a process group with a world size of one?"""
        size = self._objects.argument(site, "world_size", 3)
        if size.absent:
            return self._sets_size_to_one
        if self._objects.constant(size, site.point) == 1:
            return True
        return self._is_one_everywhere(size.value, site.point)

    @cached_property
    def _makes_only_groups_of_one(self) -> bool:
        """Does the module make process groups, all with a world size of one and under no test?"""
        sites = list(self._objects.calls({"init_process_group"}))
        return bool(sites) and all(
            self.makes_group_of_one(site)
            and not any(
                isinstance(here.owner, ir.If) and "__name__" not in ir.tokens_of(here.owner.test)
                for here in site.point.around
            )
            for site in sites
        )

    @cached_property
    def _never_joins(self) -> bool:
        """Is it a script that wraps a model in torch's or apex's DDP, and nothing makes a group?

        Nor does a file that it imports. With several processes it ends at the wrap.
        """
        module = self._module
        if "__main__" not in module.tokens:
            return False
        wraps_model = any(
            wraps(statement)
            for scope in self._objects.names.scopes
            for statement, _ in placed(scope.body)
        )
        starting = self._objects.catalogue.starting_names
        return wraps_model and not any(
            each.star_imports
            or not starting.isdisjoint(each.words)
            or any(map(_JOINS.search, each.words))
            for each in module.import_closure()
        )

    @cached_property
    def _sets_size_to_one(self) -> bool:
        """Is ``environ["WORLD_SIZE"] = "1"`` all that the module says about it, under no test?"""
        written = [each for each in environment_writes(self._objects) if each.name == "WORLD_SIZE"]
        return bool(written) and all(
            isinstance(each.value, ir.Literal)
            and each.value.value == "1"
            and not each.default
            and not any(isinstance(here.owner, ir.If) for here in each.point.around)
            for each in written
        )

    def _is_one_everywhere(self, size: ir.Expr | None, point: Point) -> bool:
        """Is a number 1 by all that it may come from: constants, the options of a namespace?"""
        if size is None:
            return False
        imported = _imported_options(self._module, size)
        if imported:
            return all(map(_is_one, imported))
        found = self._objects.origins(size, point)
        return bool(found) and all(
            _is_one(_option(each.node, each.attributes[0]) if each.attributes else each.node)
            and each.item is None
            and len(each.attributes) < 2
            for each in found
        )

    def _takes_all_gpus(self, call: ir.Call, scope: Scope, around: tuple[Around, ...]) -> bool:
        """Is it ``DataParallel(model)`` under no test, by which one process uses each GPU?"""
        return (
            ir.last_name(call.func) == "DataParallel"
            and len(call.args) == 1
            and self._objects.names.dotted(call.func, scope) in _DATA_PARALLEL
            and not any(isinstance(here.owner, ir.If) for here in around)
        )

    def is_on_one_device(self, call: ir.Call, point: Point) -> bool:
        """Does a launcher say that there is one process: ``devices=1``, ``devices=[0]``?"""
        if "num_nodes" in keywords_of(call):
            return False
        values = {each.keyword: each.value for each in call.args if each.keyword}
        return all(
            self._is_one_device(accelerator, devices, point)
            for accelerator, devices in _arms(values.get("accelerator"), values.get("devices"))
        )

    def _is_one_device(
        self, accelerator: ir.Expr | None, devices: ir.Expr | None, point: Point
    ) -> bool:
        if devices is None or (isinstance(devices, ir.Literal) and devices.value == "auto"):
            # on the CPU the default is one process
            return isinstance(accelerator, ir.Literal) and accelerator.value == "cpu"
        found = self._objects.origins(devices, point)
        return bool(found) and all(
            _is_one(each.node) and each.item is None and not each.attributes for each in found
        )

    def forks_to_fit(self, call: ir.Call, point: Point) -> bool:
        """Does Lightning fork the other processes for ``fit`` alone, whatever is around it?"""
        given = self._objects.argument(CallSite(call, point), "strategy")
        strategy = self._objects.constant(given, point)
        return isinstance(strategy, str) and _FORKS_TO_FIT.search(strategy) is not None


def _imported_options(module: Module, node: ir.Expr) -> list[ir.Expr | None]:
    """What the namespaces of other files that ``args.name`` may mean were made with for it."""
    if not isinstance(node, ir.Attribute) or not isinstance(node.value, ir.Name):
        return []
    return [_option(each, node.attr) for each in module.imported_values(node.value.id)]


def _option(made: object, name: str) -> ir.Expr | None:
    """What a namespace was made with for a name: ``Namespace(world_size=1)``."""
    if not isinstance(made, ir.Call) or ir.last_name(made.func) not in _NAMESPACES:
        return None
    return next((each.value for each in made.args if each.keyword == name), None)


def _arms(
    one: ir.Expr | None, other: ir.Expr | None
) -> Iterator[tuple[ir.Expr | None, ir.Expr | None]]:
    """Two options as they are passed together: both by one test, ``[n] if n >= 0 else "auto"``."""
    if (
        isinstance(one, ir.Conditional)
        and isinstance(other, ir.Conditional)
        and isinstance(one.test, ir.Compare)
        and isinstance(other.test, ir.Compare)
        and one.test.ops == other.test.ops
        and ir.tokens_of(one.test) == ir.tokens_of(other.test)
    ):
        yield one.body, other.body
        yield one.orelse, other.orelse
    else:
        yield one, other


def _is_one(devices: object) -> bool:
    """``1``, or a list of one: ``[0]``."""
    if isinstance(devices, ir.Display):
        return len(devices.items) == 1 and not isinstance(devices.items[0], ir.Starred)
    return isinstance(devices, ir.Literal) and devices.value in (1, "1")
