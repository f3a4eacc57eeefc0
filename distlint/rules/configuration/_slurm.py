"""How many nodes Slurm starts a command on."""

from __future__ import annotations

import re

from distlint.rules.settings import Page
from distlint.source.settings.shell import Command, Word

_LINE = re.compile(r"#SBATCH\s+(\S.*)")
_NODES = re.compile(r"(?:^|\s)(?:--nodes[=\s]\s*|-N\s*)(\d+)(?:-\d+)?(?:\s|$)")
_CHOOSES = ("-w", "--nodelist", "-r", "--relative", "-x", "--exclude", "-F", "--nodefile")
_TASKS = re.compile(r"(?:^|\s)(?:--ntasks[=\s]\s*|-n\s*)(\S+)")
_EACH = ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""Variables with the number of nodes: so many tasks are one on each node."""


def nodes_of(page: Page, command: Command, launcher: Word) -> int | None:
    """On how many nodes at least ``srun`` runs a launcher; None if that is not known.

    The number is that of its own option, else that of the job.
    """
    words = command.words
    if not words or (words[0].text or "").rpartition("/")[2] != "srun":
        return None
    options = [word for word in words[1:] if word.start < launcher.start]
    if any(word.raw.startswith(_CHOOSES) or word.splits for word in options):
        return None
    line = " ".join(word.raw if word.text is None else word.text for word in options) + " "
    tasks = _TASKS.search(line)
    most = None
    if tasks is not None and not any(name in tasks[1] for name in _EACH):
        if not tasks[1].isdecimal():
            return None
        most = int(tasks[1])
    own = _NODES.search(line)
    if own is None and any(word.raw.startswith(("-N", "--nodes")) for word in options):
        return None
    nodes = int(own[1]) if own is not None else _of_the_job(page)
    return nodes if most is None or nodes is None else min(nodes, most)


def _of_the_job(page: Page) -> int | None:
    for comment in page.sheet.script.comments:
        line = _LINE.match(page.text, comment.start, comment.end)
        found = _NODES.match(line[1]) if line is not None else None
        if found is not None:
            return int(found[1])
    return None
