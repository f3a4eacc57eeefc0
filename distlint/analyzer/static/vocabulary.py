"""What names may be signs of under a catalogue: collectives, ranks, wrapped models, seeds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir

if TYPE_CHECKING:
    from distlint.catalogue.catalogue import Catalogue, Entry

EVENT, RANK, LOCAL, EXIT, WRAP, CHANGE, COUNT, SET, AGREE, HOOK = (1 << bit for bit in range(10))
"""What a name may be a sign of; ``WRAP`` is a wrapped model, whose outputs differ by rank.

``CHANGE`` is a variable of an outer scope that the function writes, and ``COUNT`` one with which
functions of its module count; ``SET`` is what holds for the process: a seed, a handler of signals.
``AGREE`` is a call of which the arguments have to be the same on all ranks, ``HOOK`` one of a
method that classes below may define.
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

Names = frozenset[str]

_LONG = 40
"""Texts of this length are no tokens of a module, but may be how it comes to something."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What has to be in a module for a generic name to be the catalogue's."""

    words: Names
    """Any one of these."""
    sets: frozenset[Names]
    """Or all words of any of these."""

    @classmethod
    def of(cls, sets: Iterable[Names]) -> Evidence:
        sets = frozenset(sets)
        single = frozenset(each for each in sets if len(each) == 1)
        return cls(frozenset().union(*single), sets - single)

    def is_given(self, words: Names) -> bool:
        return not self.words.isdisjoint(words) or any(each <= words for each in self.sets)

    def within(self, words: Names) -> Evidence:
        """What of it may be found in code with these words."""
        sets = frozenset(each for each in self.sets if each <= words)
        return Evidence(self.words & words, sets)


class Vocabulary:
    """The names of a catalogue, by what they are signs of.

    Args:
        catalogue: what is known about the frameworks.
        has_wrappers: models are wrapped somewhere in the run, so that any ``backward`` may be a
            collective.
    """

    def __init__(self, catalogue: Catalogue, *, has_wrappers: bool = False) -> None:
        self.catalogue = catalogue
        self.events: Names = catalogue.event_names | {"backward"}
        self.event_packages: Names = catalogue.event_packages
        """Packages with collectives: in others, names that are common mean something else."""
        self.hints: Names = catalogue.event_hints
        self.ranks: Names = catalogue.rank_names
        self.locals: Names = catalogue.local_names | {ir.TRY}
        self.steady: Names = catalogue.steady_names
        self.wrappers: Names = frozenset(_wrapper_names(catalogue))
        self.handling: Names = catalogue.handling
        self.seeding = catalogue.seeding
        self.setting: Names = self.handling.union(self.seeding)
        self.changes: Names = frozenset(
            entry.name.rsplit(".", 1)[-1]
            for entry in catalogue.entries()
            if (entry.returns is not None and entry.returns.in_place)
            or (entry.local is not None and entry.local.in_place)
        )
        """Functions that change what they are given."""
        self.wrapping: Names = self.wrappers | self.changes
        self.agreeing: Names = frozenset(
            part
            for entry in catalogue.entries()
            if entry.agreement
            for part in _function_and_class(entry.name)
        )
        """Functions whose arguments have to be the same on all ranks, and their classes."""
        self.batch_params: Names = catalogue.batch_params
        self._evidence = {
            EVENT: _evidence(catalogue, lambda entry: bool(entry.collective or entry.first)),
            LOCAL: _evidence(catalogue, lambda entry: entry.local is not None),
            SET: _evidence(catalogue, lambda entry: bool(entry.seed)),
            AGREE: _evidence(catalogue, lambda entry: bool(entry.agreement)),
        }
        if has_wrappers:
            self._evidence[EVENT].pop("backward", None)
        self._sets = (
            self.events,
            self.event_packages,
            self.hints,
            self.ranks,
            self.locals,
            self.steady,
            self.wrappers,
            self.handling,
            self.changes,
            self.agreeing,
            self.batch_params,
        )
        self._long = frozenset(name for each in self._sets for name in each if len(name) >= _LONG)

    def is_meant(self, sign: int, name: str, words: Names) -> bool:
        """Is a common name the one of the catalogue? Only beside a sign of its owner."""
        wanted = self._evidence.get(sign, {}).get(name)
        return wanted is None or wanted.is_given(words)

    def within(self, words: Names) -> Hashable:
        """All that is told about code with these words: catalogues that agree here are as one."""
        if self._long:
            words |= self._long
        names = tuple(each & words for each in self._sets)
        seeds = frozenset((name, self.seeding[name]) for name in self.seeding.keys() & words)
        evidence = frozenset(
            (sign, name, table[name].within(words))
            for sign, table in self._evidence.items()
            for name in table.keys() & words
        )
        return names, seeds, evidence


def _evidence(catalogue: Catalogue, is_sign: Callable[[Entry], bool]) -> dict[str, Evidence]:
    """What has to be in a module for each generic name to be the catalogue's."""
    found: dict[str, set[frozenset[str]]] = {}
    named = _named_classes(catalogue)
    makers = _makers(catalogue)
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
        if owner in named:
            sets.update(map(frozenset[str], zip(named[owner])))
        elif root not in {"torch", "builtins"}:
            sets.add(frozenset({root}))
        else:
            sets.update(map(frozenset[str], zip(makers.get(owner, ()))))
        info = catalogue.lookup(owner)
        if info is not None and info.cls is not None:
            sets.update(frozenset({hint}) for hint in info.cls.hints)
        wanted = entry.collective.only_with if entry.collective is not None else ()
        arguments = frozenset(argument.param for argument in wanted)
        found.setdefault(name, set()).update(words | arguments for words in sets)
    wrappers = (frozenset({name}) for name in _wrapper_names(catalogue))
    found.setdefault("backward", set()).update(wrappers)
    return {name: Evidence.of(sets) for name, sets in found.items()}


def _makers(catalogue: Catalogue) -> dict[str, frozenset[str]]:
    """Functions that turn modules into objects of a class that code need not name."""
    found: dict[str, set[str]] = {}
    for entry in catalogue.entries():
        for made in ((entry.returns and entry.returns.converts) or {}).values():
            found.setdefault(made, set()).add(entry.name.rpartition(".")[2])
    return {made: frozenset(names) for made, names in found.items()}


def _named_classes(catalogue: Catalogue) -> dict[str, frozenset[str]]:
    """Classes of which code that has an object names the class, or one derived from it.

    Of all others, something returns objects, or hands them over.
    """
    classes = [entry.cls for entry in catalogue.entries() if entry.cls is not None]
    handed: set[str] = set()
    for entry in catalogue.entries():
        if entry.returns is not None:
            handed.update(entry.returns.kinds, (entry.returns.converts or {}).values())
            handed.add(str(entry.returns.kinds))
    for info in classes:
        handed.update((info.attributes or {}).values(), (info.method_params or {}).values())
    found: dict[str, set[str]] = {}
    for info in classes:
        for base in catalogue.ancestry(info.name):
            last = info.name.rpartition(".")[2]
            found.setdefault(base, set()).update((last, last.lower()))
    open_ = {base for name in handed for base in catalogue.ancestry(name)}
    return {name: frozenset(words) for name, words in found.items() if name not in open_}


def _function_and_class(name: str) -> Iterator[str]:
    """``step`` and ``Scheduler`` of ``torch.optim.Scheduler.step``; of a function, its name."""
    *_, owner, last = name.split(".")
    yield last
    if owner[:1].isupper():
        yield owner


def _runs_model(catalogue: Catalogue, name: str) -> bool:
    """Is it a class of wrapped models, with outputs of each rank's own?"""
    if catalogue.arms_backward(name):
        return True
    call = catalogue.member(name, "__call__")
    return bool(call and call.collective and call.collective.kind == "forward")


def _wrapper_names(catalogue: Catalogue) -> Iterator[str]:
    """Names under which code speaks of wrapped models, whose outputs differ from rank to rank."""
    for entry in catalogue.entries():
        if entry.cls is not None and _runs_model(catalogue, entry.name):
            yield entry.name.rsplit(".", 1)[-1]
            yield from entry.cls.hints
        returns = entry.returns
        if returns is not None and (
            not isinstance(returns.kinds, str)
            or any(_runs_model(catalogue, made) for made in (returns.converts or {}).values())
        ):
            yield entry.name.rsplit(".", 1)[-1]
