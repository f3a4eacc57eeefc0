"""DST829: commands that kill more than they should."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.shell import Command

STATIC = "it would kill the processes of the user who runs it"

_WORDS = ("python", "torchrun", "accelerate", "deepspeed", "ray", "train")
_OWN = ("-P", "--parent", "-g", "--pgroup", "-s", "--session", "-F", "--pidfile")


class BroadKill(SettingsRule):
    """A script kills processes by a name that other jobs share.

    ```bash
    pkill -f python  # bad: kills the Python processes of other jobs as well
    torchrun --nproc-per-node=8 train.py
    ```

    ## Use instead

    ```bash
    torchrun --nproc-per-node=8 train.py &
    pid=$!
    # ...
    kill "$pid"
    ```

    Or kill the process that holds the port.

    ## Why is this bad?

    On a shared node this ends every job that the user may kill: your own other jobs, and as root
    the jobs of all users.

    ## What is reported

    `pkill -f python`, `pkill -f torchrun`, `killall python` and the like in scripts, Makefiles and
    `os.system` calls: a pattern that is only the name of an interpreter or a launcher.

    ## What is not reported

    - The pattern names a script (`pkill -f my_train.py`), or the kill is limited to a parent, a
      process group or a session.
    - Dockerfiles and workflows, where no other jobs run.

    ## Fix safety

    None: the process ID has to be stored where the process is started.
    """

    code = "DST829"
    name = "broad-kill"
    severity = Severity.WARNING

    good = (
        Example(
            title="By process ID, and by the name of a script",
            file="stop.sh",
            code="""\
torchrun --nproc_per_node=8 train.py &
PID=$!
kill "$PID"
pkill -f my_project/serve_model.py
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="All processes named python",
            file="stop.sh",
            code="""\
pkill -9 -f python  # expect: DST829
killall torchrun  # expect: DST829
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        if page.sheet.kind in ("dockerfile", "yaml"):
            return
        for command in page.sheet.script.commands:
            pattern = _pattern(command)
            if pattern is not None:
                yield self.finding(
                    page,
                    f"this kills every process that matches `{pattern}`",
                    Severity.WARNING,
                    (command.start, command.end),
                    effect="other jobs on the node are killed as well",
                    help="Store the process ID at the start, and kill that process",
                )


def _pattern(command: Command) -> str | None:
    words = [word.text for word in command.words]
    if words[:1] == ["sudo"]:
        del words[0]
    name = (words[0] or "").rpartition("/")[2] if words else ""
    if name not in ("pkill", "killall") or None in words:
        return None
    rest = [word for word in words[1:] if word]
    if any(word.startswith(_OWN) for word in rest):
        return None
    pattern = next((word for word in rest if not word.startswith("-")), "")
    said = pattern.strip("^$.* \"'")
    said = said.replace(".*", " ")
    first = said.split()[0] if said.split() else ""
    broad = first.rstrip("0123456789.") in _WORDS and not said.endswith(".py")
    return pattern if broad and "/" not in said and "_" not in said else None
