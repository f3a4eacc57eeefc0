"""Whether a text starts a job on several nodes: launch lines, jobs of Slurm, configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NUMBER = r"(?P<value>\d+:\d+|\d+|\$\{?\w+(?::?[-=]\d+)?\}?)(?![\w.])"
_LAUNCH = re.compile(
    rf"(?<![\w-])--(?:nnodes|num[_-]nodes|num[_-]machines)[\s=\"',]+{_NUMBER}"
    rf"|^[ \t]*(?:nnodes|num_machines)[ \t]*:[ \t]*{_NUMBER.replace('value', 'key')}",
    re.MULTILINE,
)
_SLURM = re.compile(
    rf"^[^\n]*(?:#SBATCH|\bsrun|\bsbatch|\bsalloc)\b[^\n]*?\s(?:--nodes[= ]|-N ?){_NUMBER}",
    re.MULTILINE,
)
_LATER_NODE = re.compile(r"--(?:node|machine)[_-]rank[\s=\"',]+[1-9]")
_VARIABLE = re.compile(r"\$\{?(\w+)(?::?[-=](\d+))?")


def starts_several_nodes(text: str) -> bool:
    """Does a launch line, a job of Slurm or a configuration in a text ask for several nodes?"""
    if _LATER_NODE.search(text):
        return True
    slurm = [max(_numbers(found["value"], text), default=0) for found in _SLURM.finditer(text)]
    if any(number > 1 for number in slurm):
        return True
    for found in _LAUNCH.finditer(text):
        value = found["value"] or found["key"]
        numbers = list(_numbers(value, text))
        # a variable that the text does not set has what the job has
        if any(number > 1 for number in numbers) or not (numbers or slurm):
            return True
    return False


def _numbers(value: str, text: str) -> Iterator[int]:
    """The numbers that a value may be: the last of a range, those that a variable is set to."""
    variable = _VARIABLE.match(value)
    if variable is None:
        yield int(value.rpartition(":")[2])
        return
    name, default = variable.groups()
    if default:
        yield int(default)
    for number in re.findall(rf"(?m)(?:^|[\s;]){name}=[\"']?(?:\$\{{\w+:?[-=])?(\d+)", text):
        yield int(number)
