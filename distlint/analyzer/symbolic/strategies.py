"""Strategies, such as FSDP and ZeRO, that a script may be run under: what is assumed of them."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.state import Question
from distlint.analyzer.symbolic.values import Unknown
from distlint.catalogue.catalogue import IMPLIED_TAGS, Catalogue
from distlint.catalogue.entries import Argument

UNDER = "under"
"""Operator of the unknown that says whether one of several strategies is in use."""

_STRATEGIES = ("fsdp", "deepspeed", "zero3", "zero_stage", "sharded", "fullysharded")
_BROADER = ("fsdp", "deepspeed", "zero", "shard")


def may_name_strategy(token: str) -> bool:
    """Can a word have to do with a strategy? Also one with which nothing can be ruled out."""
    lowered = token.lower()
    return any(word in lowered for word in _BROADER)


def names_strategy(token: str) -> bool:
    lowered = token.lower()
    return any(word in lowered for word in _STRATEGIES)


def asks_for_strategy(atom: Unknown) -> bool:
    """Is it a question about FSDP, DeepSpeed and the like?"""
    named = [
        getattr(arg, "name", "") for arg in atom.args if isinstance(arg, (v.External, v.Method))
    ]
    if any(names_strategy(token) for token in (*atom.tokens, *named)):
        return True
    return any(asks_for_strategy(arg) for arg in atom.args if isinstance(arg, Unknown))


def rules_out_strategies(question: Question, outcome: bool) -> bool:
    """Is it the answer that FSDP, DeepSpeed or the like are not in use?"""
    if outcome or not isinstance(question, Unknown) or question.op == UNDER:
        return False
    return asks_for_strategy(question)


def tags_of(catalogue: Catalogue, kind: str) -> frozenset[str]:
    """Strategies that an object of this class is a sign of, with what they imply."""
    found: set[str] = set()
    for info in catalogue.classes(kind):
        for tag in info.tags:
            found.update((tag, *IMPLIED_TAGS.get(tag, ())))
    return frozenset(found)


def alone_with(catalogue: Catalogue, kind: str) -> list[Argument]:
    """Constructor arguments with which an object keeps to itself."""
    return [argument for info in catalogue.classes(kind) for argument in info.alone_with]


def built_tags(catalogue: Catalogue, value: v.Obj) -> frozenset[str]:
    """Strategies that the arguments of the constructor are a sign of."""
    found: set[str] = set()
    for info in catalogue.classes(value.kind):
        for argument, tag in (info.tagged_by or {}).items():
            given = any(
                mark.startswith(f"{argument}=") and not mark.endswith(("=None", "=False", "=''"))
                for mark in value.marks
            )
            if given:
                found.update((tag, *IMPLIED_TAGS.get(tag, ())))
    return frozenset(found)
