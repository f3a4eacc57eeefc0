"""The operators, kinds and tokens that have a meaning of their own in terms."""

from __future__ import annotations

UNSET = "unset"
"""Operator of what a variable is that only one of two ways has set."""
EITHER = "either"
"""Operator of the unknowns that are one of two values, which one is of no interest any more."""
LOST = "lost"
"""Operator of the unknowns that stand for what each rank had, where too many ways were joined."""

CARRIED = "carried"
"""Operator of the unknowns that stand for what a rank has counted in the iterations of a loop."""

LISTED = "$listed"
"""A token of a list made of known things, of which a test may have left out some."""

UNEVEN = "$uneven"
"""Token of sequences whose length differs from rank to rank."""

SELDOM_UNEVEN = "$seldom uneven"
"""Further token, or mark, of those that mostly turn out to be equally long."""

FILLED = "$filled"
"""Mark of what a collective has left in a buffer that was passed to it."""

MERGED = "merged"
"""Operator of a dict that others were put into, one after the other: the last has the say."""

LOADER = "loader"
"""Operator of what is known as a loader by its use: each rank has batches of its own."""

CUT = "cut"
"""Kind of a long range of which only the first numbers are kept."""

TRIED = "tried"
"""Operator of what is tried for an unknown beside a rank: a number that leaves out some ranks."""

SAME = "$same"
"""Token of batches that all ranks read alike."""

ORDER = frozenset({"==", "!=", "<", "<=", ">", ">="})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%"})
TRANSPARENT = (
    ARITHMETIC
    | COMPARISONS
    | {"not", "either", "min", "max", "any", "all", "number", "trip", "range"}
)
"""Terms in which what is known of their parts counts; of the result of a call nothing is known."""
