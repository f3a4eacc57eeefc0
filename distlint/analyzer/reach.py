"""Which functions can matter: an over-approximation by the names that they mention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import hooks, ir, kept
from distlint.analyzer.callgraph import callgraph_of
from distlint.analyzer.outflow import Outflow
from distlint.analyzer.project import Module, Project
from distlint.analyzer.relevance import Outline, Relevance, outline

if TYPE_CHECKING:
    from distlint.catalogue.catalogue import Catalogue, Entry

_EVENT, _RANK, _LOCAL, _EXIT, _WRAP, _CHANGE, _COUNT, _SET = 1, 2, 4, 8, 16, 32, 64, 128
"""What a name may be a sign of; ``_WRAP`` is a wrapped model, whose outputs differ by rank.

``_CHANGE`` is a variable of an outer scope that the function writes, and ``_COUNT`` one with which
functions of its module count; ``_SET`` is what holds for the process: a seed, a handler of signals.
"""

GENERIC = frozenset(
    "apply step save load join get set generate forward reduce gather scatter broadcast update log"
    " compute print read input id hash head sample node access seed stat walk now time random"
    " uniform normal choice state_dict load_state_dict shutdown wait close reset test fit train"
    " validate predict evaluate exists post token today beta poisson exponential temperature"
    " permutation frozenset signal glob backward permute_tensor breakpoint all sum max min mean"
    " put scale flush sync run call finish info debug warning error exit rank gpu device_id"
    " synchronize forward_backward item stop register initialize eval state shuffle".split()
)
"""Names that mean something only beside a sign of the module or class that they belong to."""

_EXITS = frozenset({"exit", "_exit", "quit", "abort"})


def reach_of(project: Project, catalogue: Catalogue) -> Reach:
    """The one for a project under a catalogue: what it finds out serves all files."""
    found = project.memo.get(catalogue)
    if not isinstance(found, Reach):
        found = project.memo[catalogue] = Reach(project, catalogue)
    return found


class Reach:
    """What functions may do under a catalogue, by the names in them and in all that they call."""

    def __init__(self, project: Project, catalogue: Catalogue) -> None:
        self.project = project
        self.graph = callgraph_of(project)
        self.catalogue = catalogue
        self.events = catalogue.event_names | {"backward"}
        self.ranks = catalogue.rank_names
        self.locals = catalogue.local_names | {ir.TRY}
        self.wrappers = frozenset(_wrapper_names(catalogue))
        self.setting = catalogue.handling.union(catalogue.seeding)
        self.changes = frozenset(
            entry.name.rsplit(".", 1)[-1]
            for entry in catalogue.entries()
            if (entry.returns is not None and entry.returns.in_place)
            or (entry.local is not None and entry.local.in_place)
        )
        """Functions that change what they are given."""
        self.wrapping = self.wrappers | self.changes
        self._outlines: dict[str, Outline] = {}
        self._relevance: dict[frozenset[str], Relevance] = {}
        self._relevance_of: dict[Module, Relevance] = {}
        self._evidence = {
            _EVENT: _evidence(catalogue, lambda entry: bool(entry.collective or entry.first)),
            _LOCAL: _evidence(catalogue, lambda entry: entry.local is not None),
            _SET: _evidence(catalogue, lambda entry: bool(entry.seed)),
        }
        self._signs: dict[ir.Function, int] = {}
        self._kept: dict[str, dict[str, int]] = {}
        self._seeds: dict[ir.Function, frozenset[str]] = {}
        self.outflow = Outflow(self)
        self.steady_outflow = Outflow(self, steady=True)

    def matters(self, function: ir.Function) -> bool:
        """Does it meet others, end, change globals, fail, or let out what is this rank's own?

        A long function that meets nobody is not followed for its failures, nor for what random
        numbers make of it: that takes more ways than all the rest. ``Calls.skips`` makes
        exceptions of some that raise, so ``may_matter`` has to count all of these.
        """
        if self.does_something(function):
            return True
        outflow = self.outflow if self.graph.is_short(function) else self.steady_outflow
        return bool(self.signs(function) & (_RANK | _LOCAL)) and outflow.lets_out(function)

    def does_something(self, function: ir.Function) -> bool:
        """Does it more than work out a value: meet others, ask for a rank, end, change globals?"""
        signs = self.signs(function)
        if signs & (_EVENT | _EXIT | _CHANGE):
            return True
        if signs & _SET and not self.catalogue.handling.isdisjoint(self.graph.names_in(function)):
            return True
        if ir.RAISE in function.tokens and self.graph.is_short(function):
            return True
        return bool(signs & _RANK) and self.steady_outflow.lets_out(function)

    def seeds(self, function: ir.Function) -> frozenset[str]:
        """The streams of random numbers that a long function, or one that it calls, may seed."""
        if not self.signs(function) & _SET or self.graph.is_short(function):
            return frozenset()
        found = self._seeds.get(function)
        if found is None:
            seeding, names = self.catalogue.seeding, self.graph.names_in(function)
            found = frozenset[str]().union(*(seeding[name] for name in names & seeding.keys()))
            if "Generator" in names:  # whose ``manual_seed`` is its own
                found -= {"torch"}
            self._seeds[function] = found
        return found

    def may_meet(self, function: ir.Function) -> bool:
        """May a function, or one that it calls, communicate?"""
        return bool(self.signs(function) & _EVENT)

    def asks_count(self, function: ir.Function) -> bool:
        """Does it, or one that it calls, depend on a count that its module keeps?"""
        return bool(self.signs(function) & _COUNT)

    def may_part(self, function: ir.Function) -> bool:
        """Could ranks part ways in a function, or in what it calls?"""
        return _parts(self.signs(function))

    def block_may_part(self, module: Module, tokens: frozenset[str]) -> bool:
        """Could ranks part ways in code outside any function, or in what it calls?"""
        return _parts(self.block_signs(module, tokens))

    def block_may_meet(self, module: Module, tokens: frozenset[str]) -> bool:
        return bool(self.block_signs(module, tokens) & _EVENT)

    def block_is_alike(self, module: Module, tokens: frozenset[str]) -> bool:
        """Does no rank meet others, or ask which one it is, in code outside any function?"""
        return not self.block_signs(module, tokens) & (_EVENT | _RANK | _WRAP)

    def block_signs(self, module: Module, tokens: frozenset[str]) -> int:
        found = self.own_signs(module.key, tokens)
        for function in self.graph.callees(module.key, self.graph.unaliased(module.key, tokens)):
            found |= self.signs(function)
        return found

    def own_signs(
        self, key: str, tokens: frozenset[str], references: frozenset[str] | None = None
    ) -> int:
        """What names of a module may mean: collectives, ranks, rank-local values, exits.

        ``references`` are those that may stand for a function, where that is known: a variable
        called ``step`` or an argument ``choices=`` is no call.
        """
        tokens = self.graph.unaliased(key, tokens)
        called = tokens if references is None else self.graph.unaliased(key, references)
        found = 0
        for sign, names in (
            (_EVENT, called & self.events | tokens & self.catalogue.event_hints),
            (_RANK, tokens & self.ranks),
            (_LOCAL, called & self.locals | tokens & {ir.TRY}),
            (_SET, called & self.setting),
        ):
            if any(self.is_meant(sign, key, name) for name in names):
                found |= sign
        if not tokens.isdisjoint(_EXITS):
            found |= _EXIT
        if not tokens.isdisjoint(self.wrappers):
            found |= _WRAP
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
        locals_ = self.catalogue.steady_names if steady else self.locals
        for token in tokens - {ir.TRY}:
            is_called = references is None or token in references
            if any(
                (meant in self.ranks and self.is_meant(_RANK, key, meant))
                or (is_called and meant in locals_ and self.is_meant(_LOCAL, key, meant))
                for meant in self.graph.unaliased(key, frozenset({token}))
            ):
                yield token

    def signs(self, function: ir.Function) -> int:
        """What a function and all that it may call mention.

        Found for a whole component of functions that call each other at once (Tarjan 1972).
        """
        known = self._signs.get(function)
        if known is not None:
            return known
        order: dict[ir.Function, int] = {}
        low: dict[ir.Function, int] = {}
        mine: dict[ir.Function, int] = {}
        path: list[ir.Function] = []
        work: list[tuple[ir.Function, Iterator[ir.Function]]] = []

        def enter(item: ir.Function) -> None:
            order[item] = low[item] = len(order)
            mine[item] = self.own_signs(item.module, item.tokens, self.graph.references(item))
            mine[item] |= bool(item.outer) * _CHANGE | self.graph.counts(item) * _COUNT
            mine[item] |= any(hooks.is_of_batch(item, param) for param in item.params) * _LOCAL
            mine[item] |= self.graph.is_fed(item) * _LOCAL
            mine[item] |= self.kept_signs(item)
            path.append(item)
            work.append((item, iter(self.graph.called_by(item))))

        enter(function)
        while work:
            item, callees = work[-1]
            for callee in callees:
                finished = self._signs.get(callee)
                if finished is not None:
                    mine[item] |= finished
                elif callee not in order:
                    enter(callee)
                    break
                else:
                    low[item] = min(low[item], order[callee])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[item])
                if low[item] == order[item]:
                    start = path.index(item)
                    members, path[start:] = path[start:], []
                    found = 0
                    for member in members:
                        found |= mine[member]
                    for member in members:
                        self._signs[member] = found
                    if work:
                        mine[work[-1][0]] |= found
        return self._signs[function]

    def kept_signs(self, function: ir.Function) -> int:
        """What the attributes and globals that a function reads were assigned is a sign of."""
        module = self.project.by_key(function.module)
        if module is None:
            return 0
        found = 0
        for each in (module, *self.graph.imported(module)):
            held = self.kept_in(each)
            for name in held.keys() & self.graph.reads(function) if held else ():
                found |= held[name]
        return found

    def kept_ranks(self, function: ir.Function) -> Iterator[str]:
        """The attributes and globals that a function reads and that hold a rank."""
        module = self.project.by_key(function.module)
        for each in (module, *self.graph.imported(module)) if module is not None else ():
            held = self.kept_in(each)
            for name in held.keys() & self.graph.reads(function):
                if held[name] & _RANK:
                    yield name.removeprefix(".")

    def kept_in(self, module: Module) -> dict[str, int]:
        """The attributes and globals of a module that hold a rank, or a wrapped model."""
        known = self._kept.get(module.key)
        if known is None:
            self._kept[module.key] = {}
            known = kept.kept(
                kept.assignments(module.functions, module.body),
                lambda name, called: self._sign_of(module, name, called),
            )
            self._kept[module.key] = known
        return known

    def _sign_of(self, module: Module, name: str, called: bool) -> int:
        names = self.graph.unaliased(module.key, frozenset({name}))
        if any(each in self.ranks and self.is_meant(_RANK, module.key, each) for each in names):
            return _RANK
        if called and not names.isdisjoint(self.wrappers):
            return _WRAP
        if called and any(map(self.returns_rank, self.graph.callees(module.key, names))):
            return _RANK
        return 0

    def returns_rank(self, function: ir.Function) -> bool:
        """Is it a short function that returns a test of the rank?"""
        signs = self.own_signs(function.module, function.tokens)
        is_short = signs & _RANK and self.graph.is_short(function)
        return bool(is_short) and self.steady_outflow.flow(function).returns

    def is_meant(self, sign: int, key: str, token: str) -> bool:
        """Is a common name the one of the catalogue? Only beside a sign of its owner."""
        wanted = self._evidence.get(sign, {}).get(token)
        if wanted is None:
            return True
        words = self.graph.words(key)
        return any(needed <= words for needed in wanted)

    def events_in(self, module: Module, names: frozenset[str]) -> frozenset[str]:
        """Those of the names in a module under which ranks meet, or something is changed."""
        met = (name for name in names & self.events if self.is_meant(_EVENT, module.key, name))
        return (names & self.changes).union(met)

    def relevance(self, module: Module) -> Relevance:
        """Which statements can decide anything, in a module and in what it imports, near or far."""
        known = self._relevance_of.get(module)
        if known is not None:
            return known
        outlines: dict[str, Outline] = {}
        queue = [module]
        while queue:
            current = queue.pop()
            if current.key not in outlines:
                outlines[current.key] = self.outline(current)
                queue.extend(self.graph.imported(current))
        key = frozenset(outlines)
        if key not in self._relevance:
            self._relevance[key] = Relevance(outlines)
        self._relevance_of[module] = self._relevance[key]
        return self._relevance[key]

    def outline(self, module: Module) -> Outline:
        found = self._outlines.get(module.key)
        if found is None:
            drawn = self.graph.sketch(module)
            found = self._outlines[module.key] = outline(module, drawn, self)
        return found

    def may_matter(self, module: Module, name: str) -> bool:
        """May a function of this name, called from the module, make a difference?"""
        found = self.graph.callable_from(module.key).get(name, ())
        return any(
            self.matters(item)
            or ir.RAISE in item.tokens  # followed where something is done about it
            or self.seeds(item)
            or self.graph.runs_given(item)
            for item in found
        )


def _evidence(
    catalogue: Catalogue, is_sign: Callable[[Entry], bool]
) -> dict[str, frozenset[frozenset[str]]]:
    """What has to be in a module for a generic name to be the catalogue's: all words of one set."""
    found: dict[str, set[frozenset[str]]] = {}
    for entry in catalogue.entries():
        owner, _, name = entry.name.rpartition(".")
        if name not in GENERIC or not owner or not is_sign(entry):
            continue
        sets: set[frozenset[str]] = set()
        root, *parts = owner.split(".")
        if not parts or parts[-1][:1].isupper():
            sets.add(frozenset({owner.rpartition(".")[2]}))
        else:  # a module by its path: a word such as ``checkpoint`` alone says little
            sets.add(frozenset(parts))
        if root not in {"torch", "builtins"}:
            sets.add(frozenset({root}))
        info = catalogue.lookup(owner)
        if info is not None and info.cls is not None:
            sets.update(frozenset({hint}) for hint in info.cls.hints)
        wanted = entry.collective.only_with if entry.collective is not None else ()
        arguments = frozenset(argument.param for argument in wanted)
        found.setdefault(name, set()).update(words | arguments for words in sets)
    wrappers = (frozenset({name}) for name in _wrapper_names(catalogue))
    found.setdefault("backward", set()).update(wrappers)
    return {name: frozenset(sets) for name, sets in found.items()}


def _runs_model(catalogue: Catalogue, name: str) -> bool:
    """Is it a class of wrapped models, with outputs of each rank's own?"""
    if catalogue.arms_backward(name):
        return True
    call = catalogue.member(name, "__call__")
    return bool(call and call.collective and call.collective.kind == "forward")


def _wrapper_names(catalogue: Catalogue) -> Iterator[str]:
    """Names under which code speaks of wrapped models, whose outputs differ from rank to rank."""
    yield from ("prepare", "prepare_model")
    for entry in catalogue.entries():
        if entry.cls is not None and _runs_model(catalogue, entry.name):
            yield entry.name.rsplit(".", 1)[-1]
            yield from entry.cls.hints
        if entry.returns is not None and not isinstance(entry.returns.kinds, str):
            yield entry.name.rsplit(".", 1)[-1]


def _parts(signs: int) -> bool:
    """Could ranks part ways where there are these signs?"""
    return bool(signs & _WRAP) or (bool(signs & _EVENT) and bool(signs & (_RANK | _LOCAL)))
