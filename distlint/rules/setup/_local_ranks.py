"""Where the number of a process on its node is taken for its number in the job."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.callers import objects_in
from distlint.analyzer.static.environment import Written, environment_writes
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.neighbourhood import files_near
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.ranks import every, is_local_rank, is_rank_variable, is_world_size
from distlint.rules.setup._node_shards import is_left_out, parts_taken
from distlint.rules.setup._nodes import SPAWNS, is_number_of_nodes
from distlint.rules.setup._order import INIT
from distlint.rules.training import samplers

JOINS = (INIT, "deepspeed.comm.init_distributed")
_STARTERS = ("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")
_SIZES = frozenset({"WORLD_SIZE", "LOCAL_RANK"})
_NODES = frozenset({"nodes", "num_machines", "n_machines", "node_count"})


@dataclass(frozen=True, slots=True)
class Taken:
    """The place, what is given the number, and the number as it stands there."""

    kind: str
    point: Point
    site: int
    rank: ir.Expr


class LocalRanks:
    """The local ranks of a file that are taken for the rank in the job."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._is_launched = SPAWNS.isdisjoint(objects.module.words)

    def taken(self) -> Iterator[Taken]:
        """A group, a sampler or a part of the data by the local rank, out of all ranks."""
        found = [*self._groups(), *self._variables(), *self._samplers(), *self._parts()]
        if found and not self._is_of_one_node():
            seen: set[int] = set()
            for each in found:
                if each.site not in seen:
                    seen.add(each.site)
                    yield each

    def _groups(self) -> Iterator[Taken]:
        for site in self._objects.calls_to(*JOINS):
            rank, of, by_default = _given_to_group(self._objects, site)
            if rank is not None and self._is_mixed(rank, of, site.point, by_default=by_default):
                yield Taken("group", site.point, site.call.site, rank)

    def _variables(self) -> Iterator[Taken]:
        """``os.environ["RANK"] = os.environ["SLURM_LOCALID"]``, which the group reads."""
        if "RANK" not in self._objects.module.tokens:
            return
        written = [each for each in environment_writes(self._objects) if not each.default]
        sizes = [each for each in written if each.name == "WORLD_SIZE"]
        for each in written:
            if each.name != "RANK" or _asks_for(each):
                continue
            of_job = (self._is_of_job(size.value, size.point) for size in sizes)
            if self._is_local(each.value, each.point) and (not sizes or all(of_job)):
                yield Taken("variable", each.point, each.point.statement.site, each.value)

    def _samplers(self) -> Iterator[Taken]:
        if "DistributedSampler" not in self._objects.module.words:
            return
        for sampler in samplers(self._objects):
            rank, of = sampler.option("rank").value, sampler.option("num_replicas")
            point = sampler.site.point
            if rank and self._is_mixed(rank, of.value, point, by_default=is_left_out(of)):
                yield Taken("sampler", point, sampler.call.site, rank)

    def _parts(self) -> Iterator[Taken]:
        for point, rank, of in parts_taken(self._objects):
            if self._is_mixed(rank, of, point, by_default=False):
                yield Taken("part", point, point.statement.site, rank)

    def _is_mixed(
        self, rank: ir.Expr, of: ir.Expr | None, point: Point, *, by_default: bool
    ) -> bool:
        """Is it the number on the node, out of all processes of the job?"""
        if not self._is_local(rank, point):
            return self._is_index(rank, point) and self._is_product(of, point)
        return by_default or self._is_of_job(of, point)

    def _is_local(self, node: ir.Expr, point: Point) -> bool:
        return self._is_launched and every(self._objects, node, point, is_local_rank)

    def _is_of_job(self, node: ir.Expr | None, point: Point) -> bool:
        return every(self._objects, node, point, is_world_size) or self._is_product(node, point)

    def _is_product(self, node: ir.Expr | None, point: Point) -> bool:
        """``nodes * gpus_per_node``."""
        return every(self._objects, node, point, _is_of_several_nodes)

    def _is_index(self, node: ir.Expr, point: Point) -> bool:
        """Is it the index that ``mp.spawn`` passes?"""
        if self._is_launched:
            return False
        return every(self._objects, node, point, lambda _, origin: _is_first(origin, self._spawned))

    @cached_property
    def _spawned(self) -> frozenset[object]:
        """The functions that ``mp.spawn`` calls."""
        return frozenset(
            origin.node
            for site in self._objects.calls_to(*_STARTERS)
            for origin in self._objects.passed(self._objects.argument(site, "fn", 0), site.point)
        )

    def _is_of_one_node(self) -> bool:
        """Do the files that run with it set the variables or the group to those of a node?"""
        for module in files_near(self._objects.module):
            there = objects_in(module)
            if not _SIZES.isdisjoint(module.tokens) and any(map(_is_own, _written_in(there))):
                return True
            if "rank" not in module.tokens and INIT.rpartition(".")[2] not in module.words:
                continue
            if any(self._joins_on_node(there, site) for site in there.calls_to(*JOINS)):
                return True
        return False

    @staticmethod
    def _joins_on_node(objects: Objects, site: CallSite) -> bool:
        """Is the local rank the one in the group, out of what is not known to be the job?"""
        rank, of, by_default = _given_to_group(objects, site)
        if rank is None or by_default or not every(objects, rank, site.point, is_local_rank):
            return False
        known = every(objects, of, site.point, is_world_size)
        return not known and not every(objects, of, site.point, _is_of_several_nodes)


def _given_to_group(
    objects: Objects, site: CallSite
) -> tuple[ir.Expr | None, ir.Expr | None, bool]:
    """The rank and the size that a group is given, and whether it looks the size up itself."""
    places = (4, 3) if objects.is_call_to(site, INIT) else (None, None)
    rank = objects.argument(site, "rank", places[0])
    of = objects.argument(site, "world_size", places[1])
    return rank.value, of.value, is_left_out(of)


def _is_of_several_nodes(objects: Objects, origin: Origin) -> bool:
    made, there = origin.node, objects.at(origin.point)
    return (
        isinstance(made, ir.Binary)
        and made.op == "*"
        and any(
            ir.last_name(side) in _NODES or is_number_of_nodes(there, side, origin.point)
            for side in (made.left, made.right)
        )
    )


def _is_first(origin: Origin, functions: Set[object]) -> bool:
    """Is it the first parameter of one of these?"""
    node, function = origin.node, origin.point.scope.function
    return (
        isinstance(node, ir.Name)
        and function in functions
        and function is not None
        and bool(function.params)
        and node.id == function.params[0].name
        and not origin.attributes
    )


def _written_in(objects: Objects) -> Iterator[tuple[Objects, Written]]:
    return ((objects, each) for each in environment_writes(objects))


def _is_own(here: tuple[Objects, Written]) -> bool:
    """Is a variable of the launcher set to something that is not what a launcher sets it to?"""
    objects, written = here
    if written.default or written.name not in _SIZES:
        return False
    if written.name == "LOCAL_RANK":
        return not every(objects, written.value, written.point, is_local_rank)
    known = every(objects, written.value, written.point, is_world_size)
    return not known and not every(objects, written.value, written.point, _is_of_several_nodes)


def _asks_for(written: Written) -> bool:
    """Is it set only where it is missing?"""
    return any(
        isinstance(here.owner, ir.If) and "RANK" in ir.tokens_of(here.owner.test)
        for here in written.point.around
    )


def variable_in(objects: Objects, taken: Taken) -> str:
    """The variable of the environment that is read right there: ``LOCAL_RANK``."""
    names = [
        part.value
        for part in expressions_in(taken.rank)
        if isinstance(part, ir.Literal) and isinstance(part.value, str)
    ]
    found = [name for name in names if is_rank_variable(objects, name, "local")]
    return found[0] if len(found) == 1 else ""
