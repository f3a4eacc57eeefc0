"""DST830: torch.distributed.launch."""

from __future__ import annotations

import re
from collections.abc import Iterable

from distlint.fixers.settings import replaced
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import Launch, launches, script_text
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Fix, Severity

_PASSED = re.compile(r"""["']--local_rank["']""")
_TAKES = re.compile(r"""["']--local-rank["']""")
_OLD_IMAGE = re.compile(r"nvidia/pytorch:(?:1\d|2[0-2])\.|pytorch/pytorch:[01]\.")
_READS = re.compile(r"""LOCAL_RANK""")


class OldLauncher(SettingsRule):
    """Training is started with the deprecated `python -m torch.distributed.launch`.

    ```bash
    python -m torch.distributed.launch --nproc_per_node=8 train.py  # bad: deprecated
    ```

    ## Use instead

    ```bash
    torchrun --nproc-per-node=8 train.py
    ```

    In the script, read `LOCAL_RANK` from the environment.

    ## Why is this bad?

    The launcher is deprecated, and warns about that in every run. A script that was written for
    torch 1 fails with "unrecognized arguments: --local-rank=0".

    ## What is reported

    Launch lines with `torch.distributed.launch` (info). It is a warning if the script is found and
    accepts `--local_rank` but not `--local-rank`, which torch 2.0 and later pass. It is an error
    if, in addition, the project requires torch and does not restrict it to versions before 2.0.

    ## What is not reported

    - The mismatch, if the script uses `parse_known_args`, which ignores the option; the launcher is
      reported as deprecated.
    - The requirements of the project restrict torch to versions before 1.10, or a Dockerfile of the
      project uses an image with torch 1.

    ## Fix safety

    Unsafe: writes `torchrun` if the line has `--use_env`, or if the script reads `LOCAL_RANK` and
    has no such option. torchrun does not pass `--local-rank`.

    ## References

    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    """

    code = "DST830"
    name = "old-launcher"

    good = (
        Example(
            title="torchrun",
            file="launch.sh",
            code="""\
torchrun --nproc_per_node=8 train.py
""",
            effect="static",
            why_static="the old launcher still starts the script",
        ),
    )

    bad = (
        Example(
            title="The deprecated launcher",
            file="launch.sh",
            code="""\
python -m torch.distributed.launch --use_env --nproc_per_node=8 train.py  # expect: DST830
""",
            effect="static",
            why_static="the old launcher still starts the script",
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for launch in launches(page):
            if launch.launcher != "launch":
                continue
            uses_env = bool({"use_env"} & launch.words.keys())
            text = script_text(page, launch)
            fails = not uses_env and text is not None and _refuses_dashes(text)
            if _image_has_torch_1(page):
                continue
            if fails and page.asks_for_older("torch", "2.0"):
                fails = False
            if not fails and page.asks_for_older("torch", "1.10"):
                continue
            certain = fails and bool(page.bounds("torch"))
            start = launch.first.start
            end = next(w.end for w in launch.command.words if w.text == "torch.distributed.launch")
            yield self.finding(
                page,
                "the launcher passes `--local-rank`, not `--local_rank`"
                if fails
                else "`torch.distributed.launch` is deprecated",
                Severity.ERROR if certain else Severity.WARNING if fails else Severity.INFO,
                (start, end),
                effect='the script fails with "unrecognized arguments: --local-rank=0"'
                if fails
                else "the launcher prints a warning in every run",
                help="Use `torchrun`, and read `LOCAL_RANK` from the environment",
                fix=_repair(page, launch, (start, end), text, uses_env=uses_env),
            )


def _refuses_dashes(text: str) -> bool:
    """Does a script take ``--local_rank``, and end for an option that it does not know?"""
    takes_old = _PASSED.search(text) is not None and _TAKES.search(text) is None
    return takes_old and "parse_known_args" not in text


def _image_has_torch_1(page: Page) -> bool:
    """Does a Dockerfile beside the file or above it name an image with torch 1?"""
    images = page.near("*ockerfile*", above=4, most=5)
    return any(_OLD_IMAGE.search(image.decode("utf-8", "replace")) for image in images)


def _repair(
    page: Page, launch: Launch, bounds: tuple[int, int], text: str | None, *, uses_env: bool
) -> Fix | None:
    needless = bool(text and _READS.search(text) and not _PASSED.search(text))
    if not uses_env and not (needless and text and not _TAKES.search(text)):
        return None
    if page.sheet.kind == "python" or any(word.expanded for word in launch.command.words):
        return None
    edits = [(*bounds, "torchrun")]
    if uses_env:
        word = launch.words["use_env"]
        end = word.end
        while page.text[end : end + 1] in (" ", "\t"):
            end += 1
        edits.append((word.start, end, ""))
    return replaced(page.sheet, "unsafe", "Use `torchrun`", *edits)
