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
    """A training is started with `python -m torch.distributed.launch`.

    ## What it finds

    Launch lines with `torch.distributed.launch` (information). It is a warning when the script is
    at hand and takes `--local_rank` but not `--local-rank`: torch 2.0 and later pass the latter. It
    is an error when the project asks for torch and does not hold it below 2.0.

    ## Why it matters

    The launcher is deprecated and warns about itself in every run. A script that was written for
    torch 1 ends with "unrecognized arguments: --local-rank=0".

    ## What to do

    Start it with `torchrun`, and read LOCAL_RANK from the environment.

    ## Fix

    Unsafe: `torchrun` is written where the line says `--use_env`, or where the script reads
    LOCAL_RANK and takes no such option. torchrun passes no `--local-rank`.

    ## When it is silent

    - The script uses `parse_known_args`, which passes over the option; the launcher is still old.
    - The requirements of the project hold torch at versions before 1.10, or it comes with
      a Dockerfile for an image with torch 1.
    """

    code = "DST830"
    name = "old-launcher"

    good = (
        Example(
            title="The launcher of today",
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
            title="The old one",
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
                "the script takes `--local_rank`, and this launcher passes `--local-rank`"
                if fails
                else "`torch.distributed.launch` is deprecated",
                Severity.ERROR if certain else Severity.WARNING if fails else Severity.INFO,
                (start, end),
                effect='the script ends with "unrecognized arguments: --local-rank=0"'
                if fails
                else "a warning in every run",
                advice="start it with `torchrun`, and read LOCAL_RANK from the environment",
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
    return replaced(page.sheet, "unsafe", "Start it with torchrun", *edits)
