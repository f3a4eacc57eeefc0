"""DST209: some generators are seeded, and another one is used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_SEEDS = {
    "torch": ("torch.manual_seed",),
    "numpy": ("numpy.random.seed",),
    "random": ("random.seed",),
}
_DRAWS = {
    "numpy": frozenset(
        {
            "rand", "randn", "randint", "random", "choice", "shuffle", "permutation", "uniform",
            "normal", "beta", "random_sample",
        }
    ),
    "random": frozenset(
        {"random", "randint", "choice", "choices", "shuffle", "sample", "uniform", "randrange",
         "gauss", "betavariate"}
    ),
}  # fmt: skip
_PREFIX = {"numpy": "numpy.random.", "random": "random."}
_IN_WORKERS = frozenset({"__call__", "__getitem__", "__getitems__"})
_SETS_UP = re.compile(r"seed|main|init|setup|set_up|prepare|run|train|fit|worker|launch")
"""Names of functions that begin a run."""
_ALL = frozenset(
    {"seed_everything", "set_seed", "seed_all", "fix_random_seeds", "manual_seed_all_ranks"}
)


class PartialSeeding(SourceRule):
    """`torch` is seeded, but the script also uses a random generator that is not.

    ```python
    torch.manual_seed(0)
    order = np.random.permutation(len(data))  # NumPy is not seeded
    ```

    ## Use instead

    ```python
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    order = np.random.permutation(len(data))
    ```

    Or call `distlint.runtime.seed_all(seed)`. With the same seed on all ranks, dropout and
    augmentation are the same on all of them, too: seed these with `seed + rank`.

    ## Why is this bad?

    The run is not reproducible, although it looks as if it was meant to be. The random values also
    differ between ranks, where they may have to agree ([unseeded-split](unseeded-split.md)).

    ## What is reported

    `torch.manual_seed(...)` without a seed for `numpy.random` or `random`, if a function of that
    module is called in the file. In preview: this rule has only one finding in 84 repositories,
    which is correct.

    ## What is not reported

    - A function that seeds all of them is called: `set_seed`, `seed_everything`.
    - Separate generators such as `numpy.random.default_rng(seed)`.
    - `torch` is seeded by a function that neither sets up nor seeds the run, which may be seeded
      elsewhere.
    - Random values in a transform or dataset (`__call__`, `__getitem__`): worker processes seed all
      three modules from the generator of `torch`.
    - The random value is itself a seed.

    ## Fix safety

    None: only you know whether all ranks have to draw the same values.

    ## References

    - [Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
    """

    code = "DST209"
    name = "partial-seeding"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="All generators are seeded",
            ranks=1,
            code="""\
import random

import numpy as np
import torch

torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
print(random.random(), np.random.rand(), torch.rand(1))
weight = torch.ones(1, requires_grad=True)
weight.sum().backward()
""",
        ),
        Example(
            title="Drawn in a worker, which is seeded from torch",
            ranks=1,
            code="""\
import random

import torch
from torch.utils.data import DataLoader


class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + random.random()


def draw():
    torch.manual_seed(0)
    return torch.cat(list(DataLoader(Noisy(), batch_size=4, num_workers=1))).tolist()


assert draw() == draw()
""",
        ),
        Example(
            title="Drawn as a seed",
            ranks=1,
            code="""\
import random

import torch

seed = random.randint(0, 2**32)
torch.manual_seed(seed)
print(f"seed {seed}:", torch.rand(1))
""",
        ),
    )

    bad = (
        Example(
            title="The generator in use is not seeded",
            effect="fail",
            code="""\
import random

import torch
import torch.distributed as dist

torch.manual_seed(0)
dist.init_process_group("gloo")
shift = random.random()  # expect: DST209
shifts = [None, None]
dist.all_gather_object(shifts, shift)
assert shifts[0] == shifts[1], shifts
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        words = module.words
        if "manual_seed" not in words or not _ALL.isdisjoint(words):
            return
        if document.is_test:
            return
        objects = objects_across(module, catalogue)
        if not any(map(_begins, objects.calls_to(*_SEEDS["torch"]))):
            return
        for library in ("numpy", "random"):
            if library not in module.imported_roots or any(
                True for _ in objects.calls_to(*_SEEDS[library])
            ):
                continue
            site = _first_draw(objects, library)
            if site is not None:
                yield self.finding(
                    message=f"torch is seeded but `{_PREFIX[library]}{site.name}` is not",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="the run is not reproducible, and ranks draw different values",
                    help="Seed `torch`, `numpy` and `random`",
                )


def _begins(seeding: CallSite) -> bool:
    """Is the generator seeded for the run, by its first lines or a function for that?"""
    function = seeding.point.scope.function
    return function is None or _SETS_UP.search(function.name) is not None


def _in_worker(draw: CallSite) -> bool:
    function = draw.point.scope.function
    return function is not None and bool(function.owner) and function.name in _IN_WORKERS


def _is_seed(draw: CallSite) -> bool:
    """Is what is drawn a seed, by the words of its statement?"""
    parts = expressions_of(draw.point.statement)
    return any("seed" in token.lower() for part in parts for token in ir.tokens_of(part))


def _first_draw(objects: Objects, library: str) -> CallSite | None:
    found = [
        site
        for site in objects.calls(_DRAWS[library])
        if objects.names.dotted(site.call.func, site.point.scope)
        == f"{_PREFIX[library]}{site.name}"
        and not _in_worker(site)
        and not _is_seed(site)
    ]
    return min(found, key=lambda site: site.call.site, default=None)
