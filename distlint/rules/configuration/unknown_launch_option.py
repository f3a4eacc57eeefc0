"""DST828: options that a launcher does not have."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.catalogue.settings import launcher_options, nearest
from distlint.fixers.settings import replaced
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import launches
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Fix, Severity

_NAMES = {"launch": "torch.distributed.launch", "accelerate": "accelerate launch"}
_FORMER = frozenset(
    {
        "--fp16",
        "--use_fp16",
        "--fsdp",
        "--deepspeed_transpiler",
        "--use_mps_device",
        "--ipex",
        "--use_xpu",
        "--force_multi",
        "--fsdp_backward_prefetch_policy",
        "--tpu_cluster",
    }
)


class UnknownLaunchOption(SettingsRule):
    """A launch line gives the launcher an option that it does not have.

    ## What it finds

    Options in front of the script that `torchrun`, `torch.distributed.launch`, `accelerate launch`
    or `deepspeed` does not know, such as `torchrun -c "import torch"` or
    `accelerate launch --nproc_per_node 8`. Options may be shortened, as argparse allows.

    ## Why it matters

    The launcher ends with "unrecognized arguments", or takes the value of the option for the
    script.

    ## What to do

    Write the option that was meant. What is for the script goes behind it; torchrun runs a file or,
    with `-m`, a module.

    ## Fix

    Unsafe: an option that is at most two letters off (one, if it has five or fewer) is replaced by
    the one it resembles.

    ## When it is silent

    - What follows the script: that is the script's.
    - Options that earlier versions had.
    """

    code = "DST828"
    name = "unknown-launch-option"
    severity = Severity.ERROR

    good = (
        Example(
            title="In both spellings, shortened, and an option of the script",
            file="launch.sh",
            code="""\
torchrun --nproc-per-node=8 --nnode 1 train.py --nproc 3
accelerate launch --num_processes 8 --mixed_precision bf16 train.py
python -m torch.distributed.run --nproc_per_node 8 -m package.train
""",
            effect="static",
            why_static="it shows when the launcher reads its arguments",
        ),
    )

    bad = (
        Example(
            title="Code in place of a file, and the option of another launcher",
            file="launch.sh",
            code="""\
torchrun --nproc_per_node=2 -c "import torch"  # expect: DST828
accelerate launch --nproc_per_node 8 train.py  # expect: DST828
torchrun --nproc_per_nod=8 --nodes=2 train.py  # expect: DST828
""",
            effect="static",
            why_static="it shows when the launcher reads its arguments",
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for launch in launches(page):
            for word in launch.unknown:
                name = (word.text or word.raw).partition("=")[0]
                if name in _FORMER or not launch.complete:
                    continue
                distance = 2 if len(name.lstrip("-")) > 5 else 1
                meant = nearest(name, launcher_options(launch.launcher), distance)
                hint = f"; did you mean `{meant}`?" if meant else ""
                launcher = _NAMES.get(launch.launcher, launch.launcher)
                yield self.finding(
                    page,
                    f"`{launcher}` has no option `{name}`{hint}",
                    Severity.ERROR,
                    (word.start, word.end),
                    effect="it ends with an error about its arguments",
                    advice="what is for the script goes behind it",
                    fix=self._repair(page, word.start, name, meant),
                )

    @staticmethod
    def _repair(page: Page, start: int, name: str, meant: str | None) -> Fix | None:
        if meant is None or len(name) < 5 or page.text[start : start + len(name)] != name:
            return None
        edit = (start, start + len(name), meant)
        return replaced(page.sheet, "unsafe", f"Write `{meant}`", edit)
