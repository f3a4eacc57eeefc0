"""DST507: a timeout that is a number, where torch wants a timedelta."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.following import ends
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls, imports
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite, Origin
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_TAKE_TIMEOUT: dict[str, int | None] = {
    "torch.distributed.init_process_group": 2,
    "torch.distributed.new_group": 1,
    "torch.distributed.new_subgroups": 2,
    "torch.distributed.new_subgroups_by_enumeration": 1,
    "torch.distributed.monitored_barrier": 1,
    "accelerate.InitProcessGroupKwargs": None,
    "accelerate.utils.InitProcessGroupKwargs": None,
    "deepspeed.init_distributed": None,
}
"""What takes a timeout, and at which position."""


class PgTimeout(SourceRule):
    """The timeout of a process group is a number instead of a `timedelta`.

    ```python
    dist.init_process_group("nccl", timeout=1800)  # bad: raises a TypeError
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl", timeout=timedelta(minutes=30))
    ```

    The default is 10 minutes with NCCL and 30 minutes with the other backends. Before you raise it,
    find out what keeps the ranks waiting.

    ## Why is this bad?

    torch raises a `TypeError` when the process group is created: "Expected timeout argument to be
    of type datetime.timedelta".

    torch and NCCL have no environment variable for this timeout: `NCCL_TIMEOUT`, which is often
    recommended, is read by no library. A `timeout` section in a DeepSpeed configuration is ignored.

    ## What is reported

    `timeout=1800` in `init_process_group`, `new_group`, `monitored_barrier` and the like, in
    `deepspeed.init_distributed` and in Accelerate's `InitProcessGroupKwargs`.

    ## What is not reported

    - The value is not known to be a number.

    ## Fix safety

    Safe: wraps the number, which is assumed to be in seconds, in `timedelta(seconds=...)` and adds
    the import. The call raises as it stands.

    ## References

    - [torch.distributed.init_process_group](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group)
    - [datetime.timedelta](https://docs.python.org/3/library/datetime.html#timedelta-objects)
    """

    code = "DST507"
    name = "pg-timeout"
    severity = Severity.ERROR

    good = (
        Example(
            title="A `timedelta`",
            code="""\
from datetime import timedelta

import torch.distributed as dist

SECONDS = 60
dist.init_process_group("gloo", timeout=timedelta(seconds=SECONDS))
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="An option of unknown type",
            effect="static",
            why_static="it needs an argument on its command line",
            code="""\
import torch.distributed as dist


def join(config):
    dist.init_process_group("gloo", timeout=config.timeout)
""",
        ),
    )

    bad = (
        Example(
            title="A number of seconds",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo", timeout=1800)  # expect: DST507
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A constant, in `new_group`",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            code="""\
import torch.distributed as dist

HOUR = 60 * 60
dist.init_process_group("gloo")
pair = dist.new_group(None, HOUR)  # expect: DST507
dist.barrier(group=pair)
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "timeout" not in module.tokens and "new_group" not in module.words:
            return
        objects = objects_across(module, catalogue)
        for site in objects.calls_to(*_TAKE_TIMEOUT):
            position = _TAKE_TIMEOUT.get(objects.called(site))
            value = objects.argument(site, "timeout", position).value
            if value is not None and _is_number(objects, value, site.point):
                yield self.finding(
                    message=f"`{site.name}` takes a `timedelta`, not a number",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(site.call.site),
                    effect="a TypeError is raised when the process group is created",
                    help="Pass `timeout=timedelta(seconds=...)`",
                    fix=partial(
                        _fix, site, position, Draft(locators.of(module.key), module, catalogue)
                    ),
                )


def _is_number(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it a number, or computed from numbers alone?"""

    def operands(origin: Origin) -> list[Origin] | None:
        binary = origin.node
        if not isinstance(binary, ir.Binary) or origin.attributes:
            return None
        sides = (objects.origins(side, origin.point) for side in (binary.left, binary.right))
        return [each for side in sides for each in side]

    found = list(ends(objects.origins(node, point), operands))
    return bool(found) and all(
        origin.item is None and not origin.attributes and type(origin.constant) in (int, float)
        for origin in found
    )


def _fix(site: CallSite, position: int | None, draft: Draft) -> Fix:
    call = draft.node(site.call.site, cst.Call)
    given = calls.argument(call, "timeout", position)
    if given is None:
        raise CannotFix("it is passed through ** or *")
    timedelta = imports.imported(draft, "datetime", "timedelta", call)
    draft.replace(given.value, f"{timedelta}(seconds={draft.text(given.value)})")
    return draft.fix("safe", "Wrap it in `timedelta`")
