"""``distlint fix`` as its users see it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import BUGGY, CLEAN, Run

FIXED = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(1)
dist.all_reduce(x)
"""
RETIRED = """\
from accelerate import Accelerator

accelerator = Accelerator()
for step in range(3):
    if accelerator.check_breakpoint():
        break
"""

LATE = """\
import time
import torch.distributed as dist

dist.init_process_group()
while True:
    dist.barrier()
    if time.time() > 9:
        break
"""

DIFF = """\
--- train.py
+++ train.py
@@ -3,5 +3,4 @@
{blank}
 dist.init_process_group("gloo")
 x = torch.ones(1)
-if dist.get_rank() == 0:
-    dist.all_reduce(x)
+dist.all_reduce(x)
""".format(blank=" ")


@pytest.fixture
def train(project: Path) -> Path:
    path = project / "train.py"
    path.write_text(BUGGY)
    return path


def test_only_safe_fixes_by_default(train: Path, distlint: Run) -> None:
    result = distlint("fix")
    assert result.returncode == 1
    assert train.read_text() == BUGGY
    assert result.stdout.endswith(
        "1 fixable with `distlint fix --unsafe-fixes` if verified.\nFixed nothing.\n"
    )


@pytest.mark.parametrize("command", [("fix",), ("check", "--fix")])
def test_fixed(train: Path, distlint: Run, command: tuple[str, ...]) -> None:
    result = distlint(*command, "--unsafe-fixes")
    assert result.returncode == 0
    assert train.read_text() == FIXED
    assert result.stdout == "No findings (checked 1 file).\nFixed 1 finding in 1 file.\n"
    again = distlint(*command, "--unsafe-fixes", "--exit-non-zero-on-fix")
    assert again.returncode == 0
    assert again.stdout.endswith("Fixed nothing.\n")


def test_hooks_learn_that_something_was_fixed(train: Path, distlint: Run) -> None:
    assert distlint("fix", "--unsafe-fixes", "--exit-non-zero-on-fix").returncode == 1


def test_what_is_left_is_reported(train: Path, distlint: Run) -> None:
    train.write_text(BUGGY + RETIRED)
    result = distlint("fix", "--output-format", "concise")
    assert result.returncode == 1
    assert "check_trigger" in train.read_text()
    assert result.stdout.startswith("train.py:6:1: error[DST101]")
    assert result.stderr == "Fixed 1 finding in 1 file.\n"


@pytest.mark.parametrize("command", [("fix", "--diff"), ("check", "--diff")])
def test_diff_writes_nothing(train: Path, distlint: Run, command: tuple[str, ...]) -> None:
    result = distlint(*command, "--unsafe-fixes")
    assert result.returncode == 1
    assert result.stdout == DIFF
    assert result.stderr == "Would fix 1 finding in 1 file.\n"
    assert train.read_text() == BUGGY
    left = distlint(*command)
    assert (left.returncode, left.stdout) == (1, "")
    train.write_text(CLEAN)
    assert distlint(*command).returncode == 0


def test_only_what_is_selected(train: Path, distlint: Run) -> None:
    train.write_text(BUGGY + RETIRED)
    distlint("fix", "--unsafe-fixes", "--select", "DST107")
    assert train.read_text() == BUGGY + RETIRED.replace("breakpoint", "trigger")


def test_what_is_suppressed_stays(train: Path, distlint: Run) -> None:
    text = BUGGY.replace("== 0:", "== 0:  # distlint: ignore[DST101]")
    train.write_text(text)
    assert distlint("fix", "--unsafe-fixes").returncode == 0
    assert train.read_text() == text


def test_standard_input(project: Path, distlint: Run) -> None:
    result = distlint("fix", "-", "--unsafe-fixes", "--stdin-filename", "train.py", stdin=BUGGY)
    assert result.returncode == 0
    assert result.stdout == FIXED
    assert result.stderr.endswith("Fixed 1 finding in 1 file.\n")
    shown = distlint("fix", "-", "--unsafe-fixes", "--diff", stdin=BUGGY)
    assert shown.returncode == 1
    assert "+dist.all_reduce(x)\n" in shown.stdout


def test_json_holds_the_edits(train: Path, distlint: Run) -> None:
    (found,) = json.loads(distlint("check", "--output-format", "json").stdout)
    fix = found["fix"]
    assert fix["applicability"] == "unsafe"
    assert fix["message"] == "Call `all_reduce` on all ranks"
    (edit,) = fix["edits"]
    assert edit == {
        "content": "dist.all_reduce(x)\n",
        "location": {"row": 6, "column": 1},
        "end_location": {"row": 8, "column": 1},
    }


def test_check_shows_the_edit(train: Path, distlint: Run) -> None:
    shown = distlint("check").stdout
    assert "Call `all_reduce` on all ranks (unsafe)" in shown
    assert "6 - | if dist.get_rank() == 0:\n" in shown
    assert "6 + | dist.all_reduce(x)\n" in shown


def test_a_file_that_may_not_be_written(
    train: Path, distlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    result = distlint("fix", "--unsafe-fixes")
    assert result.returncode == 2
    assert "error: train.py: not fixed: the file is read-only\n" in result.stderr
    assert train.read_text() == BUGGY


def test_a_vendored_runtime_is_imported(project: Path, distlint: Run) -> None:
    (project / "distlint.toml").write_text('runtime = "mine.dist_utils"\n')
    path = project / "train.py"
    path.write_text(LATE)
    result = distlint("fix", "--unsafe-fixes")
    assert result.returncode == 0, result.stdout
    assert "from mine.dist_utils import any_rank\n" in path.read_text()
    assert "    if any_rank(time.time() > 9):\n" in path.read_text()


def test_a_vendored_runtime_that_is_there_counts_as_such(project: Path, distlint: Run) -> None:
    (project / "distlint.toml").write_text('runtime = "mine.dist_utils"\n')
    (project / "mine").mkdir()
    (project / "mine" / "__init__.py").touch()
    vendored = distlint("vendor", "mine/dist_utils.py", "--names", "any_rank")
    assert vendored.returncode == 0, vendored.stderr
    path = project / "train.py"
    path.write_text(LATE)
    assert distlint("fix", "--unsafe-fixes", "train.py").returncode == 0
    assert "    if any_rank(time.time() > 9):\n" in path.read_text()


def test_the_cr_of_each_line_stays(train: Path, distlint: Run) -> None:
    train.write_bytes(BUGGY.replace("\n", "\r\n").encode())
    distlint("fix", "--unsafe-fixes")
    assert train.read_bytes() == FIXED.replace("\n", "\r\n").encode()


@pytest.fixture
def elsewhere(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script outside of the project, and links to it and to one inside."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "outside.py").write_text(BUGGY)
    (project / "sub").mkdir()
    (project / "sub" / "inside.txt").write_text(BUGGY)
    (project / "link.py").symlink_to(folder / "outside.py")
    (project / "relative.py").symlink_to(os.path.relpath(folder / "outside.py", project))
    (project / "inner.py").symlink_to("sub/inside.txt")
    return folder / "outside.py"


@pytest.mark.parametrize(
    "command",
    [
        ("fix", "--unsafe-fixes"),
        ("fix", "--unsafe-fixes", "."),
        ("fix", "--unsafe-fixes", "--diff"),
        ("fix", "--unsafe-fixes", "link.py", "inner.py"),
        ("check", "--add-ignores", "."),
    ],
    ids=" ".join,
)
def test_a_link_out_of_the_project_is_not_written_through(
    project: Path, elsewhere: Path, distlint: Run, command: tuple[str, ...]
) -> None:
    result = distlint(*command, "--no-cache")
    assert elsewhere.read_text() == BUGGY
    lines = [line for line in result.stderr.splitlines() if "outside the project" in line]
    assert len(lines) == 1
    assert str(elsewhere) in lines[0]
    if "--diff" not in command:
        assert (project / "sub" / "inside.txt").read_text() != BUGGY
        assert (project / "inner.py").is_symlink()


def test_the_file_that_a_link_leads_to_may_be_named(
    project: Path, elsewhere: Path, distlint: Run
) -> None:
    result = distlint("fix", "--unsafe-fixes", ".", str(elsewhere))
    assert "outside of the project" not in result.stderr
    assert elsewhere.read_text() != BUGGY


def test_a_named_folder_may_be_a_link(project: Path, elsewhere: Path, distlint: Run) -> None:
    (project / "folder").symlink_to(elsewhere.parent)
    distlint("fix", "--unsafe-fixes", "folder")
    assert elsewhere.read_text() != BUGGY


def test_a_hard_link_keeps_the_old_text(project: Path, elsewhere: Path, distlint: Run) -> None:
    os.link(elsewhere, project / "hard.py")
    distlint("fix", "--unsafe-fixes", "hard.py")
    assert (project / "hard.py").read_text() != BUGGY
    assert elsewhere.read_text() == BUGGY


def test_leftovers_of_killed_runs_are_removed(train: Path, distlint: Run) -> None:
    left = train.with_name(".train.py.999999999.abcdefgh.distlint")
    left.write_text("")
    distlint("check")
    distlint("fix", "--diff")
    assert left.exists()
    distlint("fix")
    assert not left.exists()


def test_a_path_that_does_not_exist(project: Path, distlint: Run) -> None:
    """The error is all there is to say."""
    for option in ("--unsafe-fixes", "--diff"):
        result = distlint("fix", option, "missing.py")
        assert result.returncode == 2
        assert "missing.py: no such file" in result.stderr
        assert "ixed nothing" not in result.stdout + result.stderr
        assert "ould fix nothing" not in result.stdout + result.stderr


def test_a_diff_names_the_fixes_that_it_leaves_out(project: Path, distlint: Run) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint("fix", "--diff")
    assert (result.stdout, result.stderr) == (
        "",
        "Would fix nothing (1 more with `--unsafe-fixes`).\n",
    )
    assert "more with" not in distlint("fix", "--diff", "--unsafe-fixes").stderr
    (project / "distlint.toml").write_text("unsafe-fixes = true\n")
    assert distlint("fix", "--diff").stderr == "Would fix 1 finding in 1 file.\n"


STOPS_ALONE = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.rand(1)
for step in range(9):
    dist.all_reduce(x)
    if torch.rand(1) > 0.5:
        break
"""
NEED = "requires distlint at run time, or a copy by `distlint vendor`"


def test_a_fix_that_imports_the_runtime_says_that_it_is_needed(
    project: Path, distlint: Run
) -> None:
    script = project / "train.py"
    script.write_text(STOPS_ALONE)
    shown = " ".join(distlint("check").stdout.split())
    assert NEED in shown
    (entry,) = json.loads(distlint("check", "--output-format", "json").stdout)
    assert entry["fix"]["message"].endswith(NEED)
    result = distlint("fix", "--unsafe-fixes", "--diff")
    assert "train.py would import distlint.runtime: install distlint" in result.stderr
    result = distlint("fix", "--unsafe-fixes")
    assert "from distlint.runtime import any_rank" in script.read_text()
    assert "train.py now imports distlint.runtime: install distlint" in result.stdout
    assert "`distlint vendor`" in result.stdout


@pytest.mark.parametrize(
    ("config", "script"),
    [
        ('runtime = "mine.ranks"\n', STOPS_ALONE),
        ("", STOPS_ALONE.replace("import torch\n", "import torch\nimport distlint.runtime\n", 1)),
        ("", BUGGY),
    ],
)
def test_other_fixes_need_nothing_new(
    project: Path, distlint: Run, config: str, script: str
) -> None:
    (project / "distlint.toml").write_text(config)
    (project / "train.py").write_text(script)
    (entry,) = json.loads(distlint("check", "--output-format", "json").stdout)
    assert "vendor" not in entry["fix"]["message"]
    assert "vendor" not in distlint("fix", "--unsafe-fixes").stdout


HALVES = """\
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()


def before():
    if rank != 0:
        dist.barrier()


def after():
    if rank == 0:
        dist.barrier()


def main():
    before()
    print("data")
    if rank < 2:
        dist.barrier()
    after()
"""


def test_no_mark_where_a_fix_did_not_pass(train: Path, distlint: Run) -> None:
    train.write_text(HALVES)
    marked = distlint("check", "--output-format", "concise").stdout
    assert "[!]" in marked
    result = distlint("fix", "--unsafe-fixes", "--output-format", "concise")
    assert "not applied" in result.stderr + result.stdout
    assert "DST1" in result.stdout
    assert "[!]" not in result.stdout
    assert "[*]" not in result.stdout
