"""DST831: srun starts a launcher many times on a node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import Launch, launch_of, launches_in_shell
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.shell import Command, Word

_TASKS = re.compile(r"#SBATCH\s+--ntasks-per-node[=\s]+(\d+)")
_OVERRIDES = ("--ntasks", "-n", "--ntasks-per-node")


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
    `accelerate launch` or `torch.distributed.launch` for more than one process; also in
    `srun bash -c "..."`, and in a script beside it: `srun bash run.sh`.

    ## What is not reported

    - The number of tasks is passed to `srun` itself (`--ntasks`, `--ntasks-per-node`), or may be,
      in a variable. `--nodes` does not change how many tasks a node has.
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
        for launch, first in _started_by_srun(page):
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
                        (first.start, first.end),
                        effect=f"each node runs {int(match[1]) * count} processes",
                        help="Start one task per node, or the script itself in each task",
                        related=(Related("tasks per node", place),),
                    )
                    break


def _started_by_srun(page: Page) -> Iterator[tuple[Launch, Word]]:
    """The launch lines that ``srun`` runs in each task, and the words that stand for them."""
    for command in page.sheet.script.commands:
        words = command.words
        if not words or (words[0].text or "").rpartition("/")[2] != "srun":
            continue
        found = launch_of(command)
        started = [(found, found.first)] if found is not None else launches_in_shell(page, command)
        for launch, first in started:
            if not _says_how_many(command, first):
                yield launch, first


def _says_how_many(command: Command, first: Word) -> bool:
    """Does ``srun`` get the number of tasks itself, perhaps by a variable?"""
    for word in command.words:
        if word is first:
            return False
        if word.raw.startswith(_OVERRIDES) or _may_hold_options(word):
            return True
    return False


def _may_hold_options(word: Word) -> bool:
    """Is it a variable that may hold options, and no value of one: ``--nodes=$N``?"""
    return word.text is None and not word.raw.startswith("-")
