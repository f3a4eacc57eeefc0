"""The fixes of each rule, under ``fixes/CODE/``, and those that are only shown.

Beside a script, ``NAME.fixed.py`` is what all fixes together make of it. Where there is none, the
rule reports the script, and has no fix to apply.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.rules.scripts import scripts
from tests.support import fixes, found_in, repaired

FIXED = sorted((Path(__file__).parent / "fixes").glob("DST*/*.fixed.py"))
BEFORE = [file.with_suffix("").with_suffix(".py") for file in FIXED]
LEFT = sorted({*(Path(__file__).parent / "fixes").glob("DST*/*.py")} - {*FIXED, *BEFORE})


def named(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


@pytest.mark.parametrize("before", BEFORE, ids=named)
def test_fixed(before: Path) -> None:
    after = before.with_suffix(".fixed.py")
    assert repaired(before.read_text("utf-8")) == after.read_text("utf-8")


@pytest.mark.parametrize("file", LEFT, ids=named)
def test_reported_without_a_fix_to_apply(file: Path) -> None:
    source, code = file.read_text("utf-8"), file.parent.name
    assert code in {finding.code for finding in found_in(source)}
    assert repaired(source, preview=True, only=code) == source


HEAD = """\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
"""


def test_what_is_seldom_so_is_shown_only() -> None:
    (script,) = (s for s in scripts("bugs") if s.name.endswith("__file_probe"))
    assert [fix.applicability for fix in fixes(script.source, code="DST1")] == ["displayonly"]
    assert repaired(script.source, preview=True, only="DST1") == script.source


def test_an_exception_of_one_rank_is_shown_only() -> None:
    source = HEAD + dedent("""
        def prepared(path):
            try:
                return torch.load(path)
            except (OSError, RuntimeError):
                return None


        for path in paths:
            batch = prepared(path)
            if batch:
                dist.all_reduce(x)
        """)
    assert [fix.applicability for fix in fixes(source, code="DST1")] == ["displayonly"]
    assert repaired(source) == source


def test_a_form_feed_is_no_reason_to_write_in_the_wrong_place() -> None:
    source = HEAD + "\x0cif rank == 0:\n\x0c    dist.all_reduce(x)\n"
    assert repaired(source) in (source, HEAD + "\x0cdist.all_reduce(x)\n")
