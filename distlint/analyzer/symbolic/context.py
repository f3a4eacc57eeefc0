"""What the projections of one root share: the project, the cluster, numbers, and the budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.static import hooks
from distlint.analyzer.static.callgraph import BUILTINS
from distlint.analyzer.static.effects import Effects
from distlint.analyzer.static.taint import ANYTHING
from distlint.analyzer.static.training_mode import MODE
from distlint.analyzer.symbolic.block_exits import has_exit, leaves
from distlint.analyzer.symbolic.cluster import Cluster
from distlint.analyzer.symbolic.code_shapes import CodeShapes
from distlint.analyzer.symbolic.continuations import AfterYield, Continuation, EndOfGenerator
from distlint.analyzer.symbolic.crossings import Crossing
from distlint.analyzer.symbolic.loops import Loops
from distlint.analyzer.symbolic.state import Disagreement, Frame, OverBudget
from distlint.analyzer.symbolic.state_abstraction import StateAbstraction
from distlint.analyzer.symbolic.values import Obj, Value
from distlint.source.incomplete import Reason

if TYPE_CHECKING:
    from distlint.catalogue.catalogue import Catalogue

DEEP = 9
"""How deep calls into other modules are followed, as long as the budget lasts."""

OWN_DEPTH = 3
"""How much deeper calls within the module are followed than calls into others."""
DEEPEST = 9
"""How deep short functions are followed."""

STEP_BUDGET = 30_000
"""Work that may go into one root, all its paths together: statements, and states by their size."""

ORDINARY = 100
"""Expressions of a statement that cost nothing beside the statement itself."""

EXPRESSIONS_PER_STEP = 3
"""As many more take as long as a statement."""


AnyContinuation = TypeVar("AnyContinuation", bound=Continuation)


class ExecutionContext:
    """One root, run on one model cluster."""

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        cluster: Cluster,
        main: Module,
        effects: Effects,
    ) -> None:
        self.project = project
        self.effects = effects
        self.catalogue = catalogue
        self.cluster = cluster
        self.main = main
        self.builtins = BUILTINS
        self.slicer = effects.slicer(main)
        self.abstraction = StateAbstraction(effects, main)
        self.loops = Loops(self)
        self.static: dict[Hashable, Value] = {}
        self.frames: dict[int, Frame] = {}
        self.entered: set[ir.Function] = set()
        self.arms_by_rank: set[int] = set()
        """The arms, by identity, of branches that a test of the rank has decided."""
        self.classes: set[tuple[object, ...]] = {tuple([0] * cluster.size)}
        self.steps = 0
        self.depth = DEEP
        self.budget = STEP_BUDGET
        self.reserve = 0
        self.is_at_home = True
        """Has the root come to nothing but its own module?"""
        self.groups: set[frozenset[int]] = set()
        self.told: dict[Value, tuple[Value, frozenset[int]]] = {}
        """What a broadcast has left on its group: the source that was named, and the members."""
        self.ends = False
        """Has a rank come to the end of the root, or to an exit that may be one?"""
        self.incomplete: set[Reason] = set()
        """Why something in the root may have been missed."""
        self.disagreements: dict[tuple[str, int], Disagreement] = {}
        """Arguments that have to be the same on all ranks, and are rank-local."""
        self.crossings: list[Crossing] | None = None
        """Where two ranks have met in collectives of different places, if that is asked for."""
        self.loops_cut: set[ir.Stmt] = set()
        self.loops_left: set[ir.Stmt] = set()
        """The loops that were not followed further on some way, and those that were left on one."""
        self.is_entered_late = False
        """Does the root begin in the middle of a program, and not where that begins?"""
        self._numbers: dict[Hashable, int] = {}
        self._continuations: dict[tuple[object, ...], Any] = {}
        self.hierarchy: dict[ir.Class, tuple[ir.Class | str, ...]] = {}
        """The bases of each class of the project, as far as they have been asked for."""
        self.made_by_function: dict[ir.Function, Obj | None] = {}
        """The object of a framework that a function makes for its callers, where that is known."""
        self.with_buffers: dict[ir.Class | ir.Function, bool | None] = {}
        """Which classes and factories make modules with buffers, as far as it has been asked."""
        self.shapes = CodeShapes()
        self._meets: dict[ir.Block, bool] = {}
        self._refuses: dict[ir.Function, bool] = {}
        self._alike: dict[ir.Block, bool] = {}
        self._mergeable: dict[ir.Stmt, bool] = {}

    def enter(self, function: ir.Function) -> None:
        """Note that a function is run."""
        self.entered.add(function)
        self.is_at_home = self.is_at_home and function.module == self.main.key

    def begin_root(
        self, depth: int = DEEP, budget: int = STEP_BUDGET, reserve: int = 0, is_script: bool = True
    ) -> None:
        """Forget what belongs to one root only; calls are followed to this depth.

        The reserve is added to the budget as long as nothing but its own module is come to.
        """
        self.is_entered_late = not is_script
        self.ends = False
        self.incomplete = set()
        self.disagreements = {}
        self.loops_cut, self.loops_left = set(), set()
        self.entered = set()
        self.arms_by_rank = set()
        self.loops.begin_root()
        self.depth = depth
        self.budget = budget
        self.reserve = reserve
        self.is_at_home = True
        self.steps = 0
        self.groups = set()
        self.classes = {tuple([0] * self.cluster.size)}

    def forget(self) -> None:
        """Let go of what refers to this object and its parts: only a collection would see that."""
        self.abstraction.forget()
        del self.loops

    @contextmanager
    def aside(self, depth: int | None = None, budget: int | None = None) -> Iterator[None]:
        """Something is done on a budget of its own; calls may be followed to another depth.

        What is cut off in it does not make the root incomplete.
        """
        before = self.depth, self.budget, self.reserve, self.steps
        walked = self.incomplete, self.loops_cut, self.loops_left
        self.incomplete, self.loops_cut, self.loops_left = set(), set(), set()
        self.depth = self.depth if depth is None else depth
        self.budget = self.budget if budget is None else budget
        self.reserve = self.steps = 0
        try:
            yield
        finally:
            self.depth, self.budget, self.reserve, self.steps = before
            self.incomplete, self.loops_cut, self.loops_left = walked

    def follows(self, function: ir.Function, depth: int) -> bool:
        """Is a call looked into? A short function that may communicate is, however deep."""
        if depth <= self.depth + (OWN_DEPTH if function.module == self.main.key else 0):
            return True
        is_wrapper = self.effects.may_communicate(function) and self.effects.graph.is_short(
            function
        )
        return depth <= DEEPEST and is_wrapper

    def reasons(self) -> set[Reason]:
        """Why something in the root may have been missed, as far as it has been walked."""
        never_left = any(has_exit(loop) for loop in self.loops_cut - self.loops_left)
        return self.incomplete | ({Reason.LOOPS} if never_left else set())

    def may_communicate(self, function: ir.Function) -> bool:
        """May a function, or one that it calls, communicate?"""
        return self.effects.may_communicate(function)

    def step(self) -> None:
        """Count a statement.

        Raises:
            OverBudget: when there have been too many.
        """
        self.steps += 1
        if self.steps > self.budget:
            if not self.is_at_home or self.steps > self.budget + self.reserve:
                raise OverBudget
        if self.project.proceed is not None:
            self.project.proceed()

    def spend(self, variables: int) -> None:
        """Count the handling of a whole state, by the number of its variables."""
        self.steps += variables // 64

    def evaluate(self, expressions: int) -> None:
        """Count what a statement has evaluated, if it is unusually much.

        A condition is evaluated again for each question that it asks.
        """
        if expressions > ORDINARY:
            self.steps += (expressions - ORDINARY) // EXPRESSIONS_PER_STEP

    def number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def continuation(self, made: AnyContinuation) -> AnyContinuation:
        """The one continuation of all that are equal."""
        found: AnyContinuation = self._continuations.setdefault(made.identity, made)
        return found

    def graft(self, k: Continuation | None, after: Continuation | None) -> Continuation | None:
        """The rest of a generator after its yield, with ``after`` as what follows the with."""
        above: list[Continuation] = []
        while k is not None and not isinstance(k, EndOfGenerator):
            above.append(k)
            k = k.next
        result = after
        if k is not None:
            result = self.continuation(AfterYield(k.frame, after, k.caller, k.it, k.statement))
        for item in reversed(above):
            result = self.continuation(replace(item, next=result))
        return result

    # ---- what statements do, as far as their shape tells

    def meets(self, frame: Frame | None, block: ir.Block) -> bool:
        """May a block, or what it calls, communicate?"""
        known = self._meets.get(block)
        if known is None:
            module = frame.module if frame is not None else self.main
            known = self.effects.block_may_communicate(module, ir.block_tokens(block))
            self._meets[block] = known
        return known

    def is_alike(self, frame: Frame, block: ir.Block) -> bool:
        """Does no rank meet others, or ask which one it is, in a block and what it calls?"""
        known = self._alike.get(block)
        if known is None:
            known = self.effects.block_is_alike(frame.module, ir.block_tokens(block))
            self._alike[block] = known
        return known

    def mergeable(self, statement: ir.If | ir.For) -> bool:
        """May both ways be run one after the other? Not if one leaves, or is seen to matter."""
        known = self._mergeable.get(statement)
        if known is None:
            known = not leaves((*statement.body, *statement.orelse), flags=True)
            self._mergeable[statement] = known
        return known

    def unmergeable(self, statement: ir.If | ir.For) -> None:
        self._mergeable[statement] = False

    def refine(self, outcome: tuple[object, ...]) -> None:
        """Note how a rank predicate splits the ranks: only ranks told apart need comparing."""
        self.classes.add(outcome)

    def meet(self, members: frozenset[int]) -> None:
        """Note a group of ranks that meet without the others."""
        if members not in self.groups:
            self.groups.add(members)
            self.refine(tuple(rank in members for rank in range(self.cluster.size)))

    def distinguished(self, first: int, second: int) -> bool:
        return any(outcome[first] != outcome[second] for outcome in self.classes)

    # ---- modules

    def module(self, key: str) -> Module | None:
        return self.main if key == self.main.key else self.project.by_key(key)

    def module_by_key(self, key: str) -> Module:
        return self.module(key) or self.main

    def module_of(self, cls: ir.Class) -> Module:
        return self.module_by_key(cls.module)

    def module_scope(self, module: Module) -> int:
        return self.number(("module", module.key))

    def find_module(self, dotted: str, importer: Module) -> Path | None:
        return self.project.find(dotted, importer.path)

    def submodule(self, package: Module, name: str) -> Path | None:
        return self.project.submodule(package.path, name)

    def unwraps(self, kind: str) -> str | None:
        """The attribute under which a wrapper keeps what it wraps."""
        return next((info.unwraps for info in self.catalogue.classes(kind) if info.unwraps), None)

    def matters(self, function: ir.Function) -> bool:
        """Is a function run? See :meth:`Effects.matters`."""
        return self.effects.matters(function)

    def does_something(self, function: ir.Function) -> bool:
        """Does a function, or one that it calls, more than work out a value?

        What it works out may be another each time, by a count that its module keeps.
        """
        return self.effects.does_something(function) or self.effects.asks_count(function)

    def returns_all_ranks(self, function: ir.Function) -> bool:
        """Is what a function returns a group of all ranks, whichever way it takes?"""
        returned = [
            statement.value
            for statement in ir.statements_of(function.body)
            if isinstance(statement, ir.Return)
        ]
        return bool(returned) and all(map(_is_group_of_all, returned))

    def refuses(self, function: ir.Function) -> bool:
        """Does it begin by raising, on a condition that decides something elsewhere, too?

        Then what comes after the call is done with other settings only.
        """
        found = self._refuses.get(function)
        if found is None:
            found = self._refuses[function] = any(
                isinstance(statement, ir.If)
                and any(isinstance(each, ir.Raise) for each in (*statement.body, *statement.orelse))
                and not ir.tokens_of(statement.test).isdisjoint(self.slicer.names)
                for statement in function.body
            )
        return found

    def changes_something(self, function: ir.Function) -> bool:
        """Does it write to anything but its own variables that can decide something?"""
        changed = self.effects.graph.changes(function)
        return ANYTHING in changed or not changed.isdisjoint(self.slicer.names | hooks.STOP_FLAGS)

    def sets_mode(self, function: ir.Function) -> bool:
        """Does it have modules train or evaluate, where something depends on that?

        A long function is not followed for that: it takes more paths than all the rest.
        """
        graph = self.effects.graph
        return (
            MODE in self.slicer.names
            and graph.is_short(function)
            and MODE in graph.changes(function)
        )

    def lets_out(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Does it change anything outside by what these parameters hold, or fail by them?"""
        return self.effects.lets_out(function, names)

    def leaks(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Does anything that these parameters hold leave the function?"""
        return self.effects.taint_of(function).leaks(function, names)

    def ignores(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Is what a function returns the same on all ranks, whatever these parameters are?"""
        return not self.effects.taint.leaks(function, names)

    # ---- classes

    def asks_for_kind(self, function: ir.Function) -> bool:
        """Is it a test of what kind of thing it is given? That is the same on all ranks."""
        last = function.body[-1] if function.body else None
        is_one = isinstance(last, ir.Return) and not _OF_KIND.isdisjoint(function.tokens)
        return is_one and self.effects.graph.is_short(function)


_OF_KIND = frozenset({"is_floating_point", "is_complex", "is_tensor", "isinstance"})
"""Calls that look at the type of a thing, or at its dtype."""


def _is_group_of_all(node: ir.Expr | None) -> bool:
    """``dist.group.WORLD``, or ``dist.new_group(backend="gloo")`` without ranks."""
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "new_group":
        return not any(each.star or each.keyword in {None, "ranks"} for each in node.args)
    return isinstance(node, ir.Attribute) and node.attr == "WORLD"
