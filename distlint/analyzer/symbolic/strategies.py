"""Strategies, such as FSDP and ZeRO, that a script may be run under: what is assumed of them."""

from __future__ import annotations

from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.state import Question
from distlint.analyzer.symbolic.values import Unknown

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
