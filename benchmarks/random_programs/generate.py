"""From a seed and a number to a script."""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.random_programs.idioms import IDIOMS
from benchmarks.random_programs.mutations import mutate
from benchmarks.random_programs.nested import nested_script
from benchmarks.random_programs.scope import Script
from benchmarks.random_programs.scripts import PREDICATES, assemble, main_scope, pick_groups


@dataclass(frozen=True)
class Generated:
    """A script and how it was made."""

    number: int
    source: str
    kind: str
    """``nested`` or ``idiom``."""
    mutation: str
    """What was done to it, or ``none``."""


def idiom_script(rng: random.Random) -> str:
    """Write a script of several correct idioms, one after another."""
    script = Script(rng)
    shape = rng.choice(("module", "main", "main"))
    scope, setup = main_scope(script, shape, pick_groups(rng))
    idioms = rng.choices(IDIOMS, k=rng.randint(3, 7))
    body = [line for idiom in idioms for line in idiom(scope)]
    return assemble(script, setup, body, shape, True, PREDICATES)


def generate(seed: int, number: int) -> Generated:
    """Write script ``number`` of a campaign."""
    rng = random.Random(f"{seed}:{number}")
    if number % 2 == 0:
        return Generated(number, nested_script(rng), "nested", "none")
    source, mutation = idiom_script(rng), "none"
    if rng.random() < 0.6:
        source, mutation = mutate(source, rng)
    return Generated(number, source, "idiom", mutation)
