"""Whether a file is meant for one node only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.environment import environment_read
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.neighbourhood import files_above, files_near
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.setup._demands import Demand, demands
from distlint.rules.setup._order import inits
from distlint.source.requirements import is_run_beside

if TYPE_CHECKING:
    from pathlib import Path

    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point

SPAWNS = frozenset({"spawn", "start_processes", "mp_spawn"})
"""Names in files that start their processes by themselves, mostly on one node."""
_SEVERAL_NODES = r"--nnodes(?![=\s\"',]+1(?![\w:]))|--node[_-]rank(?![=\s\"',]+0\b)"
_SIZES = frozenset({"LOCAL_WORLD_SIZE", "device_count"})
_SIZES_BY_CALL = {"get_world_size": "WORLD_SIZE", "device_count": "LOCAL_WORLD_SIZE"}
_NODES = re.compile(r"(?:SLURM_|SLURM_JOB_)?(?:nnodes|n_nodes|num_nodes)", re.IGNORECASE)
_LOCAL = frozenset({"localhost", "127.0.0.1"})
_LOOPBACK = re.compile(r"tcp://(?:127\.0\.0\.1|localhost)(?::|$)")


def is_launched_on_one_node(module: Module) -> bool:
    """Does a script run the file by a launcher, or one that imports it, and none of them on
    several nodes?
    """
    return any(_is_launched_on_one_node(each.path) for each in files_above(module))


def _is_launched_on_one_node(path: Path) -> bool:
    names = rf"(?<![\w.-]){re.escape(path.name)}\b"
    starts = (names, r"--nproc[_-]per[_-]node")
    return is_run_beside(path, *starts) and not is_run_beside(path, *starts, _SEVERAL_NODES)


def is_for_one_node(objects: Objects) -> bool:
    """Does a file say that all of its processes are on one node, or one that runs with it?"""
    module = objects.module
    return (
        any(map(_demands_one_node, dict.fromkeys((*files_above(module), *module.import_closure()))))
        or _meets_on_loopback(objects)
        or any(_sets_loopback(objects_in(each)) for each in files_near(module))
    )


def _demands_one_node(module: Module) -> bool:
    """Does a file end where the world is larger than its node, or where there are more nodes?"""
    if _SIZES.isdisjoint(module.tokens) and not any(map(_NODES.search, module.tokens)):
        return False
    objects = objects_in(module)
    return any(
        _is_one_node(objects, each) for said in demands(objects) for each in said.both_ways()
    )


def _is_one_node(objects: Objects, demand: Demand) -> bool:
    """``world == local_world``, ``world <= device_count()``, ``nnodes == 1``."""
    if demand.op not in ("==", "<="):
        return False
    left, right, point = demand.left, demand.right, demand.point
    if isinstance(right, ir.Literal):
        return right.value in (1, "1") and is_number_of_nodes(objects, left, point)
    sizes = (_size_read(objects, left, point), _size_read(objects, right, point))
    return sizes == ("WORLD_SIZE", "LOCAL_WORLD_SIZE")


def is_number_of_nodes(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is a value the number of nodes, by the name of its variable or option?"""
    named = _size_read(objects, node, point) or ir.last_name(node)
    return _NODES.fullmatch(named) is not None


def _meets_on_loopback(objects: Objects) -> bool:
    """Do all processes meet at an address that no other node has: ``tcp://127.0.0.1:29500``?"""
    places = [objects.argument(site, "init_method", 1).value for site in inits(objects)]
    return bool(places) and all(place is not None and _is_loopback(place) for place in places)


def _sets_loopback(objects: Objects) -> bool:
    """Does a file set ``MASTER_ADDR`` to an address that no other node has, whatever it was?"""
    if "MASTER_ADDR" not in objects.module.tokens or _LOCAL.isdisjoint(objects.module.tokens):
        return False
    return any(
        isinstance(point.statement, ir.Assign)
        and isinstance(point.statement.value, ir.Literal)
        and point.statement.value.value in _LOCAL
        and any(map(_is_master_addr, point.statement.targets))
        and not any(isinstance(here.owner, ir.If) for here in point.around)
        for point in objects.points
    )


def _is_master_addr(target: ir.Expr) -> bool:
    return (
        isinstance(target, ir.Subscript)
        and isinstance(target.index, ir.Literal)
        and target.index.value == "MASTER_ADDR"
    )


def _is_loopback(place: ir.Expr) -> bool:
    return any(
        isinstance(node, ir.Literal)
        and isinstance(node.value, str)
        and _LOOPBACK.match(node.value) is not None
        for node in expressions_in(place)
    )


def _size_read(objects: Objects, node: ir.Expr, point: Point, depth: int = 2) -> str:
    """Which of the sizes that a launcher sets, or a group tells, a value is."""
    for origin in objects.origins(node, point):
        made = origin.node
        if not isinstance(made, ir.Expr):
            continue
        if isinstance(made, ir.Call):
            name = ir.last_name(made.func)
            if path_of(made.func) == ("int",) and len(made.args) == 1 and depth:
                return _size_read(objects, made.args[0].value, origin.point, depth - 1)
            if name in _SIZES_BY_CALL:
                return _SIZES_BY_CALL[name]
        if name := environment_read(objects, made, origin.point):
            return name
    return ""
