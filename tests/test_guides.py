"""The guides name rules, utilities, commands, checks and files that exist, and show real output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from distlint import runtime
from distlint.cli import COMMANDS
from distlint.diagnose.signatures import Signature, signatures
from distlint.doctor.variables import table
from distlint.rules.table import RESERVED
from tests.support import anchors

ROOT = Path(__file__).parent.parent
GUIDES = [ROOT / "docs" / name for name in ("troubleshooting.md", "diagnose.md", "doctor.md")]
SHOWN = [
    block
    for guide in GUIDES
    for block in re.findall(
        r"```console\n\$ distlint ([^\n]*)\n(.*?)\n```", guide.read_text(), re.DOTALL
    )
]
both = pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)


@both
def test_rules_have_these_names(guide: Path) -> None:
    text = " ".join(guide.read_text().split())
    for code, name in re.findall(
        r"\b(DST\d{3})\b\]?(?:\([^)]*\))? ([a-z0-9]+(?:-[a-z0-9]+)+)", text
    ):
        assert RESERVED[code] == name
    assert set(re.findall(r"\bDST\d{3}\b", text)) <= RESERVED.keys()


@both
def test_commands_and_their_options_exist(guide: Path) -> None:
    lines = [line for line in guide.read_text().splitlines() if "distlint " in line]
    for command, rest in re.findall(r"\bdistlint (\w+)([^`|\n]*)", "\n".join(lines)):
        if command not in COMMANDS:
            assert command in ("doctor", "rule") or not rest.startswith(" --"), command
            continue
        parser = import_module(f"distlint.cli.{command}").parser()
        known = {option for action in parser._actions for option in action.option_strings}
        for option in re.findall(r"(?<=\s)--[a-z-]+", rest.partition("#")[0]):
            assert option in known, f"distlint {command} {option}"


@both
def test_links_lead_somewhere(guide: Path) -> None:
    text = guide.read_text()
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        path = guide.parent / file if file else guide
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path)


def test_utilities_exist() -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)(?:\([^`]*\))?`", GUIDES[0].read_text()))
    theirs = {
        *("all_gather", "check_trigger", "communication_backend", "map_location", "new_group"),
        *("init_process_group", "num_workers", "per_process_memory_fraction", "set_epoch"),
        *("set_trigger", "check_breakpoint", "find_executable_batch_size", "empty_cache"),
        *("use_reentrant", "weights_only", "unscale_", "init_distributed", "load_state_dict"),
    }
    assert named - theirs <= set(dir(runtime))
    assert len(named & set(dir(runtime))) > 15


def test_checks_that_signatures_name_are_rows_of_the_table() -> None:
    rows = set()
    for cell in re.findall(r"^\| (`[^|]+) \|", GUIDES[2].read_text(), re.MULTILINE):
        rows |= set(re.findall(r"`([\w-]+)`", cell))
    named = {check for signature in signatures().values() for check in signature.checks}
    assert named <= rows


def test_variables_are_known() -> None:
    known = table()["variables"].keys() | table()["invented"].keys()
    for guide in GUIDES:
        for name in re.findall(
            r"\b(?:NCCL|TORCH_NCCL|TORCH_FR|GLOO|DEEPSPEED)_[A-Z_]+\b", guide.read_text()
        ):
            assert name in known or name.endswith("_"), f"{guide.name}: {name}"


def test_messages_of_the_guide_are_those_of_signatures() -> None:
    """Every quoted message is found by a signature, or is part of one of their texts."""
    literals = [literal for each in signatures().values() for literal in each.literals]
    for quoted in (
        "EADDRINUSE",
        "The client socket has timed out",
        "CUDA error: invalid device ordinal",
        "Duplicate GPU detected",
        "Allocation was preemptively rejected",
        "Weights only load failed",
        "torch._dynamo hit config.",
        "Current loss scale already at minimum",
        "Attempting to deserialize object on",
    ):
        assert quoted in GUIDES[0].read_text()
        assert any(quoted in literal or literal in quoted for literal in literals)


def test_the_entry_that_is_shown_is_one() -> None:
    text = (ROOT / "docs" / "diagnose.md").read_text()
    shown = re.search(r"\[\[signature\]\]\nid = \"([\w-]+)\"", text)
    assert shown is not None
    assert shown[1] in signatures()
    documented = set(re.findall(r"`(\w+)`", text.partition("| key | |")[2].partition("\n\n")[0]))
    fields = {name for name in Signature.__dataclass_fields__ if name not in ("id", "checked")}
    assert fields - {"title", "meaning", "help", "severity"} <= documented


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_shown_output_is_real(command: str, output: str) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "distlint", *command.split()],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "96", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.stdout.rstrip() == output.rstrip()
