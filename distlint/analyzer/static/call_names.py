"""Names of calls, and of tests, by which a statement is kept or skipped."""

from __future__ import annotations

import re

EFFECTS = frozenset(
    "seed manual_seed manual_seed_all seed_everything set_seed exit _exit quit abort signal spawn"
    " start_processes notebook_launcher debug_launcher Process setattr exec super run"
    " add_argument".split()
)
"""Calls that change what is known without an assignment: seeds, exits, handlers, entry points."""

HARMLESS = frozenset(
    "print info debug warning warn error len range enumerate zip isinstance str int float bool min"
    " max abs round time perf_counter monotonic random format join append items keys values get"
    " split strip lower upper startswith endswith get_rank get_world_size is_initialized getLogger"
    " arange device empty empty_like full ones ones_like tensor zeros zeros_like".split()
)
"""Calls that do not fail on one rank alone."""

_PURE_MODULES = frozenset(
    "argparse collections copy dataclasses datetime enum functools inspect itertools logging math"
    " operator re statistics string textwrap types typing warnings".split()
)
"""Modules of the standard library that neither read nor write anything outside the process."""

BY_RANK = re.compile(r"rank|main_process|is_(?:main|master|chief)|_zero$|process_index")
"""Names in tests of the rank."""

MODEL_NAMES = ("model", "net", "ddp", "engine", "module", "actor", "critic", "unet")
"""Ends of the names of models."""

MUTATORS = frozenset("append extend insert remove pop clear update add setdefault set put".split())
"""Methods that change the collection that they are called on."""


def fails_alone(name: str) -> bool:
    """May a call of a function from outside the project, by its full name, fail on one rank?"""
    return name.rpartition(".")[2] not in HARMLESS and name.partition(".")[0] not in _PURE_MODULES
