"""Expressions that have another value on each rank, in the words that people use."""

from __future__ import annotations

from collections.abc import Sequence


def rank_test(true: set[int], false: set[int]) -> str:
    """A condition that holds on some ranks and not on others; the rest does not matter."""
    if len(true) == 1:
        return f"rank == {min(true)}"
    if len(false) == 1:
        return f"rank != {min(false)}"
    return f"rank in {tuple(sorted(true))}"


def by_rank(values: Sequence[str | None]) -> str:
    """An expression of the value of each rank; None where it does not matter."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    if len(known) <= 1:
        return known[0] if known else "None"
    if all(value in {None, str(rank)} for rank, value in enumerate(values)):
        return "rank"
    ranks = {each: {rank for rank, value in enumerate(values) if value == each} for each in known}
    if set(known) == {"True", "False"}:
        return rank_test(ranks["True"], ranks["False"])
    if len(known) == 2:
        first, second = known
        return f"{first} if {rank_test(ranks[first], ranks[second])} else {second}"
    return f"({', '.join(value or known[0] for value in values)})[rank]"
