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
    """A launch line has an option that the launcher does not know.

    ```bash
    accelerate launch --nproc_per_node 8 train.py  # bad: an option of torchrun
    torchrun -c "import train"  # bad: torchrun runs a file or a module
    ```

    ## Use instead

    ```bash
    accelerate launch --num_processes 8 train.py
    torchrun -m train
    ```

    Options of the script go after the script.

    ## Why is this bad?

    The launcher fails with "unrecognized arguments", or takes the value of the option for the
    script.

    ## What is reported

    Options before the script that `torchrun`, `torch.distributed.launch`, `accelerate launch` or
    `deepspeed` does not know, such as `torchrun -c "import torch"` or
    `accelerate launch --nproc_per_node 8`. Options may be abbreviated, as argparse allows.

    ## What is not reported

    - Options after the script, which belong to the script.
    - Options that earlier versions of the launcher had.

    ## Fix safety

    Unsafe: replaces an option that is at most two letters off (one, if it has five or fewer) with
    the one that it resembles.

    ## References

    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    - [Accelerate: command line](https://huggingface.co/docs/accelerate/package_reference/cli)
    """

    code = "DST828"
    name = "unknown-launch-option"
    severity = Severity.ERROR

    good = (
        Example(
            title="Both spellings, an abbreviation, and an option of the script",
            file="launch.sh",
            code="""\
torchrun --nproc-per-node=8 --nnode 1 train.py --nproc 3
accelerate launch --num_processes 8 --mixed_precision bf16 train.py
python -m torch.distributed.run --nproc_per_node 8 -m package.train
""",
            effect="static",
            why_static="it shows when the launcher parses its arguments",
        ),
    )

    bad = (
        Example(
            title="Code instead of a file, and an option of another launcher",
            file="launch.sh",
            code="""\
torchrun --nproc_per_node=2 -c "import torch"  # expect: DST828
accelerate launch --nproc_per_node 8 train.py  # expect: DST828
torchrun --nproc_per_nod=8 --nodes=2 train.py  # expect: DST828
""",
            effect="static",
            why_static="it shows when the launcher parses its arguments",
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
                launcher = _NAMES.get(launch.launcher, launch.launcher)
                yield self.finding(
                    page,
                    f"`{launcher}` has no option `{name}`",
                    Severity.ERROR,
                    (word.start, word.end),
                    effect="the launcher fails with an error about its arguments",
                    help=f"Use `{meant}`"
                    if meant
                    else "Put options of the script after the script",
                    fix=self._repair(page, word.start, name, meant),
                )

    @staticmethod
    def _repair(page: Page, start: int, name: str, meant: str | None) -> Fix | None:
        if meant is None or len(name) < 5 or page.text[start : start + len(name)] != name:
            return None
        edit = (start, start + len(name), meant)
        return replaced(page.sheet, "unsafe", f"Replace with `{meant}`", edit)
