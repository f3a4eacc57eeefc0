"""DST831: srun starts a launcher many times on a node."""

from __future__ import annotations

import re
from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import Launch, launches
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity

_TASKS = re.compile(r"#SBATCH\s+--ntasks-per-node[=\s]+(\d+)")
_OVERRIDES = ("--ntasks", "-n", "--ntasks-per-node", "--nodes", "-N")


class LauncherInEveryTask(SettingsRule):
    """Slurm starts a launcher in every task, and each launcher starts processes for all GPUs.

    ```bash
    #SBATCH --ntasks-per-node=8
    #SBATCH --gpus-per-node=8
    srun torchrun --nproc-per-node=8 train.py  # bad: 64 processes on 8 GPUs
    ```

    ## Use instead

    ```bash
    #SBATCH --ntasks-per-node=1
    #SBATCH --gpus-per-node=8
    srun torchrun --nproc-per-node=8 train.py
    ```

    Or start one task per GPU, and the script itself in it.

    ## Why is this bad?

    With 8 tasks on a node, 8 launchers start 8 processes each: 64 processes on 8 GPUs. They compete
    for the port, or wait for nodes that do not exist.

    ## What is reported

    A Slurm script with `--ntasks-per-node` above 1, in which `srun` starts `torchrun`,
    `accelerate launch` or `torch.distributed.launch` for more than one process.

    ## What is not reported

    - The number of tasks is passed to `srun` itself.
    - The launcher starts one process, or a number that is not known.

    ## Fix safety

    None: either the tasks or the launcher have to go.

    ## References

    - [sbatch](https://slurm.schedmd.com/sbatch.html)
    - [srun](https://slurm.schedmd.com/srun.html)
    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    """

    code = "DST831"
    name = "launcher-in-every-task"
    severity = Severity.ERROR

    good = (
        Example(
            title="One task per node",
            file="train.sbatch",
            code="""\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc_per_node=8 --rdzv_endpoint="$HEAD:29500" train.py
""",
            effect="static",
            why_static="it needs a cluster with Slurm",
        ),
    )

    bad = (
        Example(
            title="A launcher in each of eight tasks per node",
            file="train.sbatch",
            code="""\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
srun torchrun --nnodes=2 --nproc_per_node=8 --rdzv_endpoint="$HEAD:29500" train.py  # expect: DST831
""",
            effect="static",
            why_static="it needs a cluster with Slurm",
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        if page.sheet.kind != "shell":
            return
        for launch in launches(page):
            if (launch.wrapper or "").rpartition("/")[2] != "srun" or _says_how_many(launch):
                continue
            option = "num_processes" if launch.launcher == "accelerate" else "nproc_per_node"
            count = launch.number(option)
            if launch.launcher == "deepspeed" or count is None or count < 2:
                continue
            for comment in page.sheet.script.comments:
                match = _TASKS.match(page.text, comment.start, comment.end)
                if match and int(match[1]) > 1:
                    place = page.sheet.place(comment.start, comment.end)
                    yield self.finding(
                        page,
                        f"{match[1]} tasks per node start {count} processes each",
                        Severity.ERROR,
                        (launch.first.start, launch.first.end),
                        effect=f"each node runs {int(match[1]) * count} processes",
                        help="Start one task per node, or the script itself in each task",
                        related=(Related("tasks per node", place),),
                    )
                    break


def _says_how_many(launch: Launch) -> bool:
    for word in launch.command.words:
        if word is launch.first:
            return False
        if word.raw.startswith(_OVERRIDES) or word.text is None:
            return True
    return False
