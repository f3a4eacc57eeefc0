"""Which functions can matter: an over-approximation by the names that they mention."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.static import hooks
from distlint.analyzer.static import kept_values as kept
from distlint.analyzer.static.callgraph import callgraph_of
from distlint.analyzer.static.closure import close
from distlint.analyzer.static.mentions import Mentions
from distlint.analyzer.static.slicing import ProgramSlice, Slicer, program_slice
from distlint.analyzer.static.taint import ANYTHING, Flows, TaintAnalysis
from distlint.analyzer.static.training_mode import MODE
from distlint.analyzer.static.vocabulary import (
    AGREE,
    CHANGE,
    COUNT,
    EVENT,
    EXIT,
    HOOK,
    LOCAL,
    RANK,
    SET,
    WRAP,
    Vocabulary,
)

if TYPE_CHECKING:
    from distlint.catalogue.catalogue import Catalogue

MOST_SLICERS = 8
"""Sets of modules whose relevance is kept: neighbours import the same, and each takes megabytes."""

_EXITS = frozenset({"exit", "_exit", "quit", "abort"})


def effects_of(project: Project, module: Module, catalogue: Catalogue) -> Effects:
    """The effects of functions in runs of a module: what is found out serves all files.

    A function of a file that knows nothing of ranks may be handed a wrapped model, whose
    ``backward`` is then a collective.
    """
    effects = _effects(project, catalogue, has_wrappers=False)
    if effects.wraps_within(module):
        return _effects(project, catalogue, has_wrappers=True)
    return effects


def _effects(project: Project, catalogue: Catalogue, *, has_wrappers: bool) -> Effects:
    key = (Effects, catalogue, has_wrappers)
    found = project.memo.get(key)
    if not isinstance(found, Effects):
        vocabulary = Vocabulary(catalogue, has_wrappers=has_wrappers)
        found = project.memo[key] = Effects(project, vocabulary)
    return found


@dataclass(slots=True)
class Facts:
    """What is known about a module and its functions, under catalogues that are as one there."""

    signs: dict[ir.Function, int] = field(default_factory=dict)
    seeds: dict[ir.Function, frozenset[str]] = field(default_factory=dict)
    flows: Flows = field(default_factory=Flows)
    steady_flows: Flows = field(default_factory=Flows)
    program_slice: ProgramSlice | None = None
    kept: dict[str, int] | None = None
    """The signs of its attributes and globals."""


class Common:
    """What serves all catalogues: facts about each module by what is told about its words."""

    def __init__(self) -> None:
        self.facts: dict[str, dict[Hashable, Facts]] = {}
        self.slicer: OrderedDict[tuple[frozenset[str], Hashable], Slicer] = OrderedDict()

    def forget(self, keys: frozenset[str]) -> None:
        """Let go of modules that are no longer at hand."""
        for key in keys:
            self.facts.pop(key, None)
        for known in list(self.slicer):
            if not known[0].isdisjoint(keys):
                del self.slicer[known]


class Effects:
    """What functions may do under a catalogue, by the names in them and in all that they call."""

    def __init__(self, project: Project, vocabulary: Vocabulary) -> None:
        self.project = project
        self.graph = callgraph_of(project)
        self.catalogue = vocabulary.catalogue
        self.vocabulary = vocabulary
        self.wrapping = self.vocabulary.wrapping
        self.taint = TaintAnalysis(self)
        self.steady_taint = TaintAnalysis(self, steady=True)
        self._common = project.memo_of(Common)
        self._told: dict[str, Hashable] = {}
        self._told_of: dict[frozenset[str], Hashable] = {}
        self._facts: dict[str, Facts] = {}
        self._shows_ranks: dict[str, bool] = {}

    def facts(self, key: str) -> Facts:
        """What is known about a module so far, perhaps from under another catalogue."""
        found = self._facts.get(key)
        if found is None:
            shared = self._common.facts.setdefault(key, {})
            found = self._facts[key] = shared.setdefault(self.told(key), Facts())
        return found

    def told(self, key: str) -> Hashable:
        """What the catalogue tells about the words of a module and of all that it imports."""
        found = self._told.get(key)
        if found is None:
            words = self._words_within(key)
            known = self._told_of.get(words)  # modules that import each other have the same
            if known is None:
                known = self._told_of[words] = self.vocabulary.within(words)
            found = self._told[key] = known
        return found

    def wraps_within(self, module: Module) -> bool:
        """Is there a name of a wrapper in a module, or in what it imports, near or far?"""
        return not self._words_within(module.key).isdisjoint(self.vocabulary.wrappers)

    def _words_within(self, key: str) -> frozenset[str]:
        return self.graph.imports.words_within(self.graph.imports.within(key))

    def forget(self, keys: frozenset[str]) -> None:
        """Let go of modules that are no longer at hand."""
        for key in keys:
            self._told.pop(key, None)
            self._facts.pop(key, None)
            self._shows_ranks.pop(key, None)
        self._told_of.clear()

    def matters(self, function: ir.Function) -> bool:
        """Does it meet others, end, change globals, fail, or let out what is this rank's own?

        A long function that does not communicate is not followed for its failures, nor for what
        random numbers make of it: that takes more paths than all the rest. ``Calls.skips`` makes
        exceptions of some that raise, so ``may_matter`` has to count all of these.
        """
        if self.does_something(function):
            return True
        if not self.shows_ranks(function):
            return False
        has_sign = bool(self.signs(function) & (RANK | LOCAL))
        return has_sign and self.taint_of(function).leaks(function)

    def taint_of(self, function: ir.Function) -> TaintAnalysis:
        """The analysis that decides about a function: random numbers count in short ones only."""
        return self.taint if self.graph.is_short(function) else self.steady_taint

    def lets_out(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Does it change anything outside by what these parameters hold, or fail by them?"""
        flow = self.steady_taint.flow(function, names)
        return flow.escapes or flow.keeps

    def does_something(self, function: ir.Function) -> bool:
        """Does it more than work out a value: meet others, ask for a rank, end, change globals?"""
        signs = self.signs(function)
        if not self.shows_ranks(function):
            return bool(signs & (EVENT | HOOK))
        if signs & (EVENT | EXIT | CHANGE | AGREE | HOOK):
            return True
        if signs & SET and self.graph.mentions(function, self.vocabulary.handling):
            return True
        if ir.RAISE in function.tokens and self.graph.is_short(function):
            return True
        return bool(signs & RANK) and self.steady_taint.leaks(function)

    def shows_ranks(self, function: ir.Function) -> bool:
        """Is there a sign of ranks in the module of a function?"""
        known = self._shows_ranks.get(function.module)
        if known is None:
            module = self.project.by_key(function.module)
            known = self._shows_ranks[function.module] = module is None or module.shows_ranks
        return known

    def seeds(self, function: ir.Function) -> frozenset[str]:
        """The streams of random numbers that a long function, or one that it calls, may seed."""
        if not self.signs(function) & SET:
            return frozenset()
        if not self.shows_ranks(function) or self.graph.is_short(function):
            return frozenset()
        seeds = self.facts(function.module).seeds
        found = seeds.get(function)
        if found is None:
            seeding = self.vocabulary.seeding
            names = self.graph.mentions(function, seeding)
            found = frozenset[str]().union(*(seeding[name] for name in names))
            if self.graph.mentions(function, ["Generator"]):  # whose ``manual_seed`` is its own
                found -= {"torch"}
            seeds[function] = found
        return found

    def may_communicate(self, function: ir.Function) -> bool:
        """May a function, or one that it calls, communicate?"""
        return bool(self.signs(function) & EVENT)

    def asks_count(self, function: ir.Function) -> bool:
        """Does it, or one that it calls, depend on a count that its module keeps?"""
        return bool(self.signs(function) & COUNT)

    def may_diverge(self, function: ir.Function) -> bool:
        """Could ranks diverge in a function, or in what it calls?"""
        return _parts(self.signs(function))

    def block_may_diverge(self, module: Module, tokens: frozenset[str]) -> bool:
        """Could ranks diverge in code outside any function, or in what it calls?"""
        return _parts(self.block_signs(module, tokens))

    def block_may_communicate(self, module: Module, tokens: frozenset[str]) -> bool:
        return bool(self.block_signs(module, tokens) & EVENT)

    def block_is_alike(self, module: Module, tokens: frozenset[str]) -> bool:
        """Does no rank meet others, or ask which one it is, in code outside any function?"""
        return not self.block_signs(module, tokens) & (EVENT | RANK | WRAP)

    def block_signs(self, module: Module, tokens: frozenset[str]) -> int:
        found = self.own_signs(module.key, tokens)
        for function in self.graph.callees(
            module.key, self.graph.imports.unaliased(module.key, tokens)
        ):
            found |= self.signs(function)
        return found

    def own_signs(self, key: str, tokens: frozenset[str], mentions: Mentions | None = None) -> int:
        """What names of a module may mean: collectives, ranks, rank-local values, exits.

        ``mentions`` are those that may stand for a function, where that is known: a variable
        called ``step`` or an argument ``choices=`` is no call.
        """
        unaliased = partial(self.graph.imports.unaliased, key)
        tokens = met = called = unaliased(tokens)
        known = self.vocabulary
        if mentions is not None:
            called = unaliased(mentions.all)
            met = unaliased(mentions.within(known.event_packages))
        found = 0
        for sign, names in (
            (EVENT, met & known.events | tokens & known.hints),
            (RANK, tokens & known.ranks),
            (LOCAL, called & known.locals | tokens & {ir.TRY}),
            (SET, called & known.setting),
            (AGREE, called & known.agreeing),
        ):
            if any(self.is_meant(sign, key, name) for name in names):
                found |= sign
        if not tokens.isdisjoint(_EXITS):
            found |= EXIT
        if not tokens.isdisjoint(known.wrappers):
            found |= WRAP
        return found

    def sources(
        self,
        key: str,
        tokens: frozenset[str],
        references: frozenset[str] | None = None,
        *,
        steady: bool = False,
    ) -> Iterator[str]:
        """The names in a module that stand for a rank, or for a value of each rank's own.

        ``references`` are those that may stand for a function, where that is known; ``steady``
        leaves out random numbers.
        """
        ranks = self.vocabulary.ranks
        locals_ = self.vocabulary.steady if steady else self.vocabulary.locals
        for token in tokens - {ir.TRY}:
            is_called = references is None or token in references
            if any(
                (meant in ranks and self.is_meant(RANK, key, meant))
                or (is_called and meant in locals_ and self.is_meant(LOCAL, key, meant))
                for meant in self.graph.imports.unaliased(key, frozenset({token}))
            ):
                yield token

    def signs(self, function: ir.Function) -> int:
        """What a function and all that it may call mention."""
        return close(function, self.graph.called_by, self._own, self._known, self._keep)

    def _own(self, function: ir.Function) -> int:
        """What a function itself mentions."""
        graph = self.graph
        found = self.own_signs(function.module, function.tokens, graph.mentioned_by(function))
        found |= bool(function.outer) * CHANGE | graph.counts(function) * COUNT
        found |= graph.is_fed(function) * LOCAL | self.kept_signs(function)
        if function.owner:
            mentioned = graph.mentioned_by(function).members
            found |= (not mentioned.isdisjoint(graph.open_hooks(function.module))) * HOOK
        return found | self.is_given_a_batch(function) * LOCAL

    def is_given_a_batch(self, function: ir.Function) -> bool:
        """May a framework pass it the batch of this rank, or what came of it?"""
        names = self.vocabulary.batch_params if function.owner else frozenset()
        return any(
            hooks.is_of_batch(function, each) or each.name in names for each in function.params
        )

    def _known(self, function: ir.Function) -> int | None:
        return self.facts(function.module).signs.get(function)

    def _keep(self, function: ir.Function, signs: int) -> None:
        self.facts(function.module).signs[function] = signs

    def kept_signs(self, function: ir.Function) -> int:
        """What the attributes and globals that a function reads were assigned is a sign of."""
        module = self.project.by_key(function.module)
        if module is None:
            return 0
        found = 0
        for each in (module, *self.graph.imports.imported(module)):
            held = self.kept_in(each)
            for name in held.keys() & self.graph.reads(function) if held else ():
                found |= held[name]
        return found

    def kept_ranks(self, function: ir.Function) -> Iterator[str]:
        """The attributes and globals that a function reads and that hold a rank."""
        module = self.project.by_key(function.module)
        for each in (module, *self.graph.imports.imported(module)) if module is not None else ():
            held = self.kept_in(each)
            for name in held.keys() & self.graph.reads(function):
                if held[name] & RANK:
                    yield name.removeprefix(".")

    def kept_in(self, module: Module) -> dict[str, int]:
        """The attributes and globals of a module that hold a rank, or a wrapped model."""
        facts = self.facts(module.key)
        if facts.kept is None:
            facts.kept = {}  # what is asked for meanwhile
            facts.kept = kept.kept(
                kept.assignments(module.functions, module.body),
                lambda name, called: self._sign_of(module, name, called),
            )
        return facts.kept

    def _sign_of(self, module: Module, name: str, called: bool) -> int:
        names = self.graph.imports.unaliased(module.key, frozenset({name}))
        if any(
            each in self.vocabulary.ranks and self.is_meant(RANK, module.key, each)
            for each in names
        ):
            return RANK
        if called and not names.isdisjoint(self.vocabulary.wrappers):
            return WRAP
        if called and any(map(self.returns_rank, self.graph.callees(module.key, names))):
            return RANK
        return 0

    def returns_rank(self, function: ir.Function) -> bool:
        """Is it a short function that returns a test of the rank?"""
        signs = self.own_signs(function.module, function.tokens)
        is_short = signs & RANK and self.graph.is_short(function)
        return bool(is_short) and self.steady_taint.flow(function).returns

    def is_meant(self, sign: int, key: str, token: str) -> bool:
        """Is a common name the one of the catalogue? Only beside a sign of its owner."""
        return self.vocabulary.is_meant(sign, token, self.graph.imports.words(key))

    def events_in(self, module: Module, names: frozenset[str]) -> frozenset[str]:
        """Those of the names in a module under which ranks meet or agree, or that change things."""
        known = self.vocabulary
        met = (name for name in names & known.events if self.is_meant(EVENT, module.key, name))
        agreed = names & known.agreeing
        if agreed:
            words = self._words_within(module.key)
            agreed = frozenset(name for name in agreed if known.is_meant(AGREE, name, words))
        return (names & known.changes | agreed).union(met)

    def slicer(self, module: Module) -> Slicer:
        """Which statements can decide anything, in a module and in what it imports, near or far."""
        within = self.graph.imports.within(module.key)
        kept = self._common.slicer
        key = (within, self.told(module.key))
        found = kept.get(key)
        if found is None:
            modules = map(self.project.by_key, sorted(within))
            found = kept[key] = Slicer({m.key: self.program_slice(m) for m in modules if m})
            if len(kept) > MOST_SLICERS:
                kept.popitem(last=False)
        kept.move_to_end(key)
        return found

    def program_slice(self, module: Module) -> ProgramSlice:
        facts = self.facts(module.key)
        if facts.program_slice is None:
            facts.program_slice = program_slice(module, self.graph.slice_candidate(module), self)
        return facts.program_slice

    def may_set_mode(self, module: Module, name: str) -> bool:
        """May a function of this name, called from the module, have modules train or evaluate?"""
        called = self.graph.callable_from(module.key).get(name, ())
        return any(MODE in self.graph.changes(item) for item in called)

    def changed_by_methods(self, module: Module, name: str) -> frozenset[str]:
        """What short methods of this name, called from the module, change of their objects."""
        called = self.graph.callable_from(module.key).get(name, ())
        methods = (item for item in called if item.owner and self.graph.is_short(item))
        return frozenset[str]().union(*map(self.graph.changes, methods)) - {ANYTHING}

    def may_matter(self, module: Module, name: str) -> bool:
        """May a function of this name, called from the module, make a difference?"""
        if name in self.graph.open_hooks(module.key):
            return True
        if name in self.graph.held(module.key):  # an object, which may keep what it is given
            return True
        called = self.graph.callable_from(module.key).get(name, ())
        by_object = (self.graph.run_by_attribute(module.key, each) for each in (f".{name}", name))
        found = (*called, *chain(*by_object))
        return any(
            self.matters(item)
            or self.graph.runs_given(item)
            or self.seeds(item)
            # followed where something is done about it
            or (ir.RAISE in item.tokens and self.shows_ranks(item))
            for item in found
        )


def _parts(signs: int) -> bool:
    """Could ranks diverge where there are these signs?"""
    return bool(signs & WRAP) or (bool(signs & EVENT) and bool(signs & (RANK | LOCAL)))
