"""The entry points: the body of a module, and the functions that nothing in it is seen to call."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.static import hooks
from distlint.analyzer.static.effects import effects_of
from distlint.analyzer.static.guards.rank_tests import is_left_to_some
from distlint.analyzer.static.objects.objects import objects_of
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.cluster import MOST_RANKS, Cluster, NeedBiggerCluster
from distlint.analyzer.symbolic.context import DEEP, ExecutionContext
from distlint.analyzer.symbolic.crossings import Crossing
from distlint.analyzer.symbolic.divergence import Divergence
from distlint.analyzer.symbolic.product import ProductExploration
from distlint.analyzer.symbolic.proofs import Proof, Prover
from distlint.analyzer.symbolic.starting_states import start_of
from distlint.analyzer.symbolic.state import Disagreement, OverBudget, State
from distlint.catalogue.catalogue import Catalogue
from distlint.source.incomplete import Reason

ENOUGH = 24
"""Ways to part that are looked at for one pair of ranks, once they have been proven."""
ENOUGH_ALIKE = 2
"""Partings between the same collectives that are proven before they are passed."""

ENOUGH_REFUTED = 4
"""The same for those that the replay refutes, with the same settings."""

ENOUGH_REFUTED_AT_ALL = 12
"""The same with any settings: one may end ranks that stand aside."""

ENOUGH_TRIED = 200
"""Partings like those already seen after which a pair of ranks is left."""

ENOUGH_OPEN = 12
"""Partings at calls that are not followed, of which each is replayed with them followed."""

LEVELS = ((DEEP, 16_000, 32_000), (1, 3_000, 0))
"""How deep calls into other modules are followed, the budget, and what is added to it as long as a
script comes to no other module: the next when one is spent."""

FUNCTION_LEVELS = ((DEEP, 5_000, 0), (1, 800, 0))
"""The same for a function without a caller: a script runs from its module body."""

LAST_LEVELS = ((1, 800, 0),)
"""The same for those that are left when a module has had its share."""

REFUTED_BUDGET = 20_000
"""Work that may go into replays of one root that prove nothing."""

REPLAY_BUDGET = 6_000
"""Work that goes into proofs for a module before only the first proof is still looked for."""

MODULE_BUDGET = 30_000
"""Work that may go into the functions without a caller of a module, before the rest gets little."""


@dataclass
class Outcome:
    """What the analysis of a module found, and how many entry points it gave up."""

    proofs: list[Proof] = field(default_factory=list)
    roots: int = 0
    over_budget: int = 0
    incomplete: dict[ir.Function | None, set[Reason]] = field(default_factory=dict)
    """The roots of which not all has been walked that could hold a divergence, and why."""
    disagreements: dict[tuple[str, int], Disagreement] = field(default_factory=dict)
    """By module and site, calls with an argument that has to be the same on all ranks."""
    crossings: list[Crossing] = field(default_factory=list)
    """Where two ranks meet in collectives of different places."""

    def cut_off(self, root: ir.Function | None, reasons: Iterable[Reason]) -> None:
        found = set(reasons)
        if found:
            self.incomplete.setdefault(root, set()).update(found)


class EntryPointAnalysis:
    """Rehearses the roots of one module."""

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        module: Module,
        world: tuple[int, int],
        *,
        notes_crossings: bool = False,
    ) -> None:
        self.project = project
        self.catalogue = catalogue
        self.module = module
        self.world = world
        self.notes_crossings = notes_crossings
        self.effects = effects_of(project, module, catalogue)
        self.context: ExecutionContext | None = None
        self.entered: set[ir.Function] = set()
        self.prover = Prover()
        self.outcome = Outcome(self.prover.proofs)
        self.ends = True
        """Has a rank come to the end of the entry point that was analysed last?"""
        self.spent = 0

    def run(self) -> Outcome:
        """Rehearse the module body first, then each function that it has not come to."""
        collects = gc.isenabled()
        gc.disable()  # next to nothing is garbage before the end, and the trees are large
        try:
            return self.run_all()
        finally:
            self.leave()
            if collects:
                gc.enable()

    def run_all(self) -> Outcome:
        v.forget()
        own = _own_tokens(self.module.body)
        is_script = self.effects.block_may_diverge(self.module, own)
        never_ends = False
        if is_script:
            self.analyse(None)
            never_ends = not (self.ends or self.outcome.over_budget or self.outcome.proofs)
        called: list[ir.Function] = []
        for function in self.module.functions:
            hook = hooks.may_be_hook(function)
            if function in self.entered or not (hook or self.effects.may_diverge(function)):
                continue
            if hooks.is_gone(function, self.module) or not self.is_handed_out(function):
                continue
            if self.is_called(function) or (never_ends and self.is_of_use(function)):
                called.append(function)
            else:
                self.analyse(function)
        # callers come later as a rule
        for function in reversed(called):
            if function in self.entered:
                continue
            # what calls it was not walked to its end, or other files may call it, too
            if self.outcome.over_budget:
                self.analyse(function, counts=False)  # its caller counts as over budget already
            elif not (is_script or function.name.startswith("_")):
                self.analyse(function)
        return self.outcome

    def is_handed_out(self, function: ir.Function) -> bool:
        """May others call it? A function in a function has to be handed out."""
        if not function.nested:
            return True
        return function in self.module.handed_out and not self.is_for_some_ranks(function)

    def is_for_some_ranks(self, function: ir.Function) -> bool:
        """Does a test of the rank keep ranks from where a function in a function is used?

        The others meet its collectives elsewhere.
        """
        around = self.module.enclosing[function]
        return any(
            is_left_to_some(point)
            for point in objects_of(self.module, self.catalogue).points
            if point.scope.function is around
            for node in ir.nodes_of(point.statement)
            if isinstance(node, ir.Name) and node.id == function.name
        )

    def is_called(self, function: ir.Function) -> bool:
        """Is a function called by its name in its own module?

        Then it was out of reach where it is called, unless that was not walked to its end.
        """
        name = f"self.{function.name}" if function.owner else function.name
        if function.name == "__init__":
            name = function.owner
        return name in self.module.called_names

    def is_of_use(self, function: ir.Function) -> bool:
        """Does its own module make objects with this method?

        In a script that never comes to its end, the rest of the script is what would call it.
        """
        return any(
            cls.name == function.owner
            for name in self.module.called_names
            for cls in self.module.lineage(name)
        )

    def analyse(self, function: ir.Function | None, counts: bool = True) -> None:
        """Rehearse one root, on a bigger cluster when the code tells more ranks apart."""
        self.outcome.roots += counts
        nodes, local = self.world
        own_levels = FUNCTION_LEVELS if self.spent <= MODULE_BUDGET else LAST_LEVELS
        levels = iter(LEVELS if function is None else own_levels)
        level = next(levels)
        while True:
            try:
                context = self.prepared(nodes, local)
                context.begin_root(*level, is_script=function is None)
                context.crossings = [] if self.notes_crossings else None
                is_complete = self.compare_ranks(context, function)
            except NeedBiggerCluster as need:
                if need.nodes * need.local > MOST_RANKS:
                    self.outcome.cut_off(function, {Reason.CLUSTER_SIZE})
                    return
                nodes, local = need.nodes, need.local
                self.leave()
            except OverBudget:
                shallower = next(levels, None)
                if shallower is None:
                    self.outcome.over_budget += counts
                    if counts:
                        self.outcome.cut_off(function, {Reason.BUDGET, *context.reasons()})
                    self.prover.probe(context, function)
                    return
                level = shallower
            else:
                self.outcome.over_budget += counts and not is_complete
                if counts:
                    self.outcome.cut_off(function, context.reasons())
                self.entered |= context.entered
                self.ends = context.ends
                return
            finally:
                if self.context is not None:
                    self.outcome.disagreements.update(self.context.disagreements)
                    self.outcome.crossings += self.context.crossings or ()
                    self.spent += self.context.steps if function else 0

    def compare_ranks(self, context: ExecutionContext, function: ir.Function | None) -> bool:
        """Collect proofs; has all been walked that there is within the bounds?

        Raises:
            OverBudget: when walking takes too many steps, or what proves nothing does.
        """
        start = start_of(context, function)
        trials: Counter[object] = Counter()
        unconfirmed: set[object] = set()
        refuted = 0
        walk = ProductExploration(context, start)
        for first, second in _pairs(context):
            found = 0
            for divergence in walk.divergences(first, second):
                kind = divergence.kind
                if divergence.is_open:
                    found += self.look_into(context, start, divergence, function, trials)
                    continue
                refuted_so = (kind, divergence.settings)
                is_known = (
                    trials[kind, True] >= ENOUGH_ALIKE
                    or trials[refuted_so] >= ENOUGH_REFUTED
                    or trials[kind, False] >= ENOUGH_REFUTED_AT_ALL
                )
                if is_known or (self.prover.replayed > REPLAY_BUDGET and self.outcome.proofs):
                    trials["alike"] += 1
                    if not (is_known or trials[kind, True]):
                        context.incomplete.add(Reason.BUDGET)
                    unconfirmed.add(kind)
                else:
                    before = self.prover.replayed
                    proven, is_refuted = self.prover.prove(context, start, divergence, function)
                    if not (proven or is_refuted):
                        unconfirmed.add(kind)
                    trials[kind, proven] += 1
                    trials[refuted_so] += not proven
                    found += proven
                    refuted += 0 if proven else self.prover.replayed - before
                    if refuted > REFUTED_BUDGET:
                        raise OverBudget
                if found >= ENOUGH or trials["alike"] >= ENOUGH_TRIED:
                    context.incomplete.add(Reason.DIVERGENCES)
                    break
        if not walk.is_complete:
            context.incomplete.add(Reason.STATES)
        if any(not trials[kind, True] for kind in unconfirmed):
            context.incomplete.add(Reason.UNCONFIRMED)
        return walk.is_complete

    def look_into(
        self,
        context: ExecutionContext,
        start: State,
        divergence: Divergence,
        root: ir.Function | None,
        trials: Counter[object],
    ) -> bool:
        """Is there a proof of a divergence at a call that is not followed? Few are looked into."""
        kind = ("open", divergence.kind)
        found = None
        is_open = context.depth != DEEP and trials["open"] < ENOUGH_OPEN
        if is_open and trials[kind] < ENOUGH_ALIKE:
            trials.update((kind, "open"))
            found = self.prover.look_into(context, start, divergence, root)
        if found is None:
            context.incomplete.add(Reason.CALLS)
        return bool(found)

    def prepared(self, nodes: int, local: int) -> ExecutionContext:
        """A context of this size, with what earlier roots have taught it about the module."""
        context = self.context
        if context is None or (context.cluster.nodes, context.cluster.local) != (
            nodes,
            local,
        ):
            cluster = Cluster(nodes, local)
            context = ExecutionContext(
                self.project, self.catalogue, cluster, self.module, self.effects
            )
            self.context = context
        return context

    def leave(self) -> None:
        """Be done with a context."""
        if self.context is not None:
            self.context.forget()
            self.context = None


def _own_tokens(body: ir.Block) -> frozenset[str]:
    """Tokens of what a module executes by itself: not those inside functions and classes."""
    return ir.block_tokens(
        tuple(s for s in body if not isinstance(s, (ir.Define, ir.DefineClass, ir.Import)))
    )


def _pairs(context: ExecutionContext) -> Iterator[tuple[int, int]]:
    """Pairs of ranks to compare; later ones only if something has told them from earlier ones.

    Rank 0 stands for all others where it takes part. Elsewhere the first member of a group does.
    """
    compared: list[int] = []
    for second in range(1, context.cluster.size):
        if not any(not context.distinguished(second, other) for other in compared):
            compared.append(second)
            yield 0, second
    done: set[tuple[int, int]] = set()
    for group in sorted(map(sorted, context.groups)):
        for second in group[1:]:
            if group[0] != 0 and (group[0], second) not in done:
                done.add((group[0], second))
                yield group[0], second
