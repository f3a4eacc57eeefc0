"""DST902: every rank prints in the training loop."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards import asks_rank
from distlint.analyzer.static.objects import objects_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import on_all_ranks
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.project import Module
    from distlint.analyzer.static.guards import Guards
    from distlint.analyzer.static.objects import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_OPTIONS = frozenset({None, "sep", "end", "file", "flush"})
_SAYS_WHO = re.compile(r"rank|gpu|process|device|worker", re.IGNORECASE)


class UnguardedPrint(SourceRule):
    """Every rank prints the same line in the training loop.

    ## What it finds

    `print(...)` in a loop that also does a backward pass, where all ranks come, and the line does
    not say which rank it is of.

    ## Why it matters

    Each line comes as often as there are ranks, in any order, and each with the loss of its own
    data. What is of interest is lost among them.

    ## What to do

    `if rank == 0:`, or `accelerator.print(...)`. Average the loss over the ranks first, outside of
    the test.

    ## Fix

    None: which of the ranks is to print, and what is to be averaged, is for the author to say.

    ## When it is silent

    - A test of the rank stands around it, or the line names the rank or the device.
    - It is printed in the other case of a test under which rank 0 alone prints.
    - The module or one that it imports defines its own `print` or replaces it, or `print` is called
      with an option that Python's does not have (`force=True`).

    In preview: the 17 findings in 58 repositories are printed by all ranks; 3 of them are about
    what this one rank met.
    """

    code = "DST902"
    name = "unguarded-print"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Rank 0 alone, and each rank by name",
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
            title="The lines of a run of one process",
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
            title="A print of the project's own",
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
            title="As often as there are ranks",
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
                        effect="each line as often as there are ranks, in any order",
                        advice="Print on rank 0.",
                    )


def _is_replaced(module: Module, catalogue: Catalogue) -> bool:
    """Is ``print`` another function: by an option of its own, or by a file that is imported?"""
    calls = objects_of(module, catalogue).calls({"print"})
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
