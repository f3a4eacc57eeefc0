"""DST902: every rank prints in the training loop."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import on_all_ranks
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_OPTIONS = frozenset({None, "sep", "end", "file", "flush"})
_SAYS_WHO = re.compile(r"rank|gpu|process|device|worker", re.IGNORECASE)


class UnguardedPrint(SourceRule):
    """Every rank prints the same line in the training loop.

    ```python
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())  # bad: printed once per rank
    ```

    ## Use instead

    ```python
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print("loss", loss.item())
    ```

    `accelerator.print(...)` does the same. To print the loss of the global batch, average it over
    the ranks first, outside the rank check.

    ## Why is this bad?

    Each line appears once per rank, in any order, and each rank prints the loss of its local data.
    The lines of interest are lost among them.

    ## What is reported

    `print(...)` in a loop that also runs a backward pass, in code that all ranks run, if the line
    does not identify its rank. This rule is in preview: it also reports lines about something that
    only one rank encountered, which are useful without a rank check.

    ## What is not reported

    - Lines that are guarded by a rank check, or that mention the rank, process, worker, GPU or
      device.
    - Lines in the other branch of a condition under which only rank 0 prints.
    - Modules that define or replace `print`, or import a module that does.
    - Modules that call `print` with an argument that the built-in function does not have
      (`force=True`).

    ## Fix safety

    None: only the author knows which rank should print, and what should be averaged.
    """

    code = "DST902"
    name = "unguarded-print"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="On rank 0 only, or with the rank in the line",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(1, requires_grad=True)
for step in range(2):
    loss = (weight * 2).sum()
    loss.backward()
    print(f"rank {rank}: {loss.item()}")
    if rank == 0:
        print("step", step)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The branch for a single process",
            code="""\
import torch
import torch.distributed as dist

sharded = True
dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(1, requires_grad=True)
for step in range(2):
    loss = (weight * 2).sum()
    loss.backward()
    if sharded:
        if rank == 0:
            print("step", step)
    else:
        print("step", step)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The project replaces print",
            effect="static",
            why_static="the module that replaces print is not there",
            code="""\
import quiet
import torch
import torch.distributed as dist

quiet.only_rank_0_prints()
dist.init_process_group("gloo")
weight = torch.ones(1, requires_grad=True)
for step in range(2):
    loss = (weight * 2).sum()
    if loss.isnan():
        print("no number", force=True)
    loss.backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Printed once per rank",
            effect="static",
            why_static="the lines of all ranks are printed",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
weight = torch.ones(1, requires_grad=True)
for step in range(2):
    loss = (weight * 2).sum()
    loss.backward()
    print("step", step, "loss", loss.item())  # expect: DST902
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "print" not in module.tokens or "backward" not in module.tokens:
            return
        if "print" in module.definitions or "__builtin__" in module.words:
            return
        if {"builtins", "setup_for_distributed"} & module.words or _is_replaced(module, catalogue):
            return
        for site, guards in on_all_ranks(module, catalogue, frozenset({"print"})):
            if _is_for_one_process(site):
                continue
            if isinstance(site.call.func, ir.Name) and _is_in_step(guards, site):
                if not any(_SAYS_WHO.search(token) for token in _said(site.call)):
                    yield self.finding(
                        message="every rank prints this line",
                        severity=Severity.INFO,
                        place=locators.of(module.key).place(site.call.site),
                        effect="each line appears once per rank, in any order",
                        help="Print on rank 0 only",
                    )


def _is_replaced(module: Module, catalogue: Catalogue) -> bool:
    """Is ``print`` another function: by an option of its own, or by a file that is imported?"""
    calls = objects_across(module, catalogue).calls({"print"})
    if any(argument.keyword not in _OPTIONS for site in calls for argument in site.call.args):
        return True
    return any(
        isinstance(target, ir.Attribute) and target.attr == "print"
        for other in module.imports
        if "print" in other.tokens and {"builtins", "__builtin__"} & other.words
        for statement in other.statements()
        if isinstance(statement, ir.Assign)
        for target in statement.targets
    )


def _is_for_one_process(site: CallSite) -> bool:
    """Is it the other case of a test under which rank 0 alone prints?"""
    own = {id(here.block) for here in site.point.around}
    return any(
        isinstance(statement, ir.If)
        and asks_rank(statement.test)
        and "print" in ir.tokens_of(statement)
        for here in site.point.around
        if isinstance(here.owner, ir.If)
        for block in (here.owner.body, here.owner.orelse)
        if id(block) not in own
        for statement in block
    )


def _is_in_step(guards: Guards, site: CallSite) -> bool:
    return any("backward" in ir.block_tokens(loop.body) for loop in loops_around(site.point))


def _said(call: ir.Call) -> frozenset[str]:
    return ir.tokens_of(call)
