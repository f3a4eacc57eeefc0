"""A rule as a user would write it, in the form of a file."""

from __future__ import annotations

FILE = '''\
"""Rules of our lab."""

from collections.abc import Iterable
from dataclasses import dataclass

from distlint.rules.api import Example, Finding, Script, ScriptRule, Severity


@dataclass
class Limit:
    minutes: "int" = 5


class GroupWithoutTimeout(ScriptRule):
    """A process group is set up without a timeout of its own.

    ## Fix safety

    Safe: the timeout decides only how long a job hangs before it is ended.
    """

    code = "LAB001"
    name = "group-without-timeout"
    severity = Severity.WARNING
    words = ("init_process_group",)
    good = (
        Example(
            title="Five minutes",
            code="""\\
from datetime import timedelta

import torch.distributed as dist

dist.init_process_group("gloo", timeout=timedelta(minutes=5))
dist.destroy_process_group()
""",
        ),
    )
    bad = (
        Example(
            title="The default",
            code="""\\
import torch.distributed as dist

dist.init_process_group("gloo")  # expect: LAB001
dist.destroy_process_group()
""",
        ),
    )

    def findings(self, script: Script) -> Iterable[Finding]:
        for call in script.calls_to("torch.distributed.init_process_group"):
            if call.argument("timeout", 2).absent:
                yield self.report(
                    call,
                    "a process group without a timeout of its own",
                    effect="a job that hangs holds its nodes for half an hour",
                    help="Pass timeout=timedelta(minutes=5).",
                    fix=call.with_keyword(
                        "timeout",
                        f"timedelta(minutes={Limit().minutes})",
                        imports=("datetime.timedelta",),
                        message="Give up after five minutes",
                        applicability="safe",
                    ),
                )
'''

SCRIPT = """\
from torch.distributed import init_process_group as start

start("gloo")
"""

CONFIG = 'rules = ["tools/lab.py"]\n'


def changed(*changes: tuple[str, str]) -> str:
    """The rule with some of its text replaced."""
    text = FILE
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return text
