"""Notebooks on the command line: every format, patches and standard input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from distlint.source.edits import changed_lines
from tests.cli.conftest import BUGGY, Result, Run
from tests.notebooks import markdown, notebook

SETUP, BUG = BUGGY.split("if ")
TEXT = notebook(SETUP, markdown("# All"), f"x = !ls\nif {BUG}".rstrip("\n"))


@pytest.fixture
def path(project: Path) -> Path:
    path = project / "train.ipynb"
    path.write_text(TEXT)
    return path


def line_of(text: str) -> int:
    return TEXT[: TEXT.index(text)].count("\n") + 1


def test_a_line_for_each_finding(path: Path, distlint: Run) -> None:
    result = distlint("check", "--output-format", "concise", str(path))
    assert result.returncode == 1
    assert result.stdout.startswith("train.ipynb:cell 3:2:1: error[DST101] ")


def test_people_see_the_cell(path: Path, distlint: Run) -> None:
    shown = distlint("check", str(path)).stdout
    assert " --> train.ipynb:cell 3:2:1\n" in shown
    assert "3 |     dist.all_reduce(x)\n  |     ------------------ rank 0 waits here\n" in shown
    assert "  cell 3\n  1   | x = !ls\n" in shown
    assert "2 - | if dist.get_rank() == 0:\n" in shown


def test_json(path: Path, distlint: Run) -> None:
    (found,) = json.loads(distlint("check", "--output-format", "json", str(path)).stdout)
    assert (found["cell"], found["location"]["row"], found["noqa_row"]) == (3, 2, 2)
    assert {each["cell"] for each in found["fix"]["edits"]} == {3}
    assert [(each["cell"], each["location"]["row"]) for each in found["related"]] == [(3, 3)]


def test_programs_that_show_the_file_get_its_lines(path: Path, distlint: Run) -> None:
    def written(name: str) -> Result:
        return distlint("check", "--output-format", name, str(path))

    row = line_of('"if dist.get_rank() == 0:')
    assert f",line={row},endLine={row}::train.ipynb:cell 3:2:1: DST101" in written("github").stdout
    (issue,) = json.loads(written("gitlab").stdout)
    assert issue["location"] == {"path": "train.ipynb", "lines": {"begin": row, "end": row}}
    assert "cell 3:2:1: " in issue["description"]
    (diagnostic,) = json.loads(written("rdjson").stdout)["diagnostics"]
    assert diagnostic["location"]["range"] == {"start": {"line": row}, "end": {"line": row}}
    assert "suggestions" not in diagnostic
    (found,) = json.loads(written("sarif").stdout)["runs"][0]["results"]
    (location,) = found["locations"]
    assert location["physicalLocation"]["region"] == {"startLine": row, "endLine": row}
    assert "fixes" not in found
    (case,) = ElementTree.fromstring(written("junit").stdout).iter("testcase")
    assert case.get("line") == str(row)
    assert case.get("name", "").endswith("(cell 3, line 2, column 1)")


def test_pages(path: Path, distlint: Run) -> None:
    page = distlint("check", "--output-format", "html", str(path)).stdout
    assert "cell 3, line 2: " in page
    assert '<span class="row">1  </span>x = !ls' in page
    page = distlint("trace", "--output-format", "html", str(path)).stdout
    assert "<h2><code>train.ipynb:cell 3</code></h2>" in page
    assert "nbformat" not in page


def test_a_patch_for_each_cell(path: Path, distlint: Run) -> None:
    result = distlint("fix", "--unsafe-fixes", "--diff", str(path))
    assert result.stdout == (
        "--- train.ipynb:cell 3\n+++ train.ipynb:cell 3\n@@ -1,3 +1,2 @@\n x = !ls\n"
        "-if dist.get_rank() == 0:\n-    dist.all_reduce(x)\n+dist.all_reduce(x)\n"
    )
    assert path.read_text() == TEXT


def test_standard_input_is_repaired(project: Path, distlint: Run) -> None:
    options = ("--unsafe-fixes", "--stdin-filename", "train.ipynb", "-")
    result = distlint("fix", *options, stdin=TEXT)
    assert result.returncode == 0
    changed = [line for line in changed_lines(TEXT, result.stdout, 0) if line[0] in "+-"]
    assert [line[0] for line in changed] == ["-", "-", "+"]


def test_a_baseline_holds_when_cells_are_put_in_between(path: Path, distlint: Run) -> None:
    distlint("check", "--baseline", "b.json", "--update-baseline", str(path))
    path.write_text(notebook(SETUP, "y = 2\nz = 3", *[f"x = !ls\nif {BUG}".rstrip("\n")]))
    result = distlint("check", "--baseline", "b.json", str(path))
    assert (result.returncode, result.stderr) == (0, "")
