"""Notebooks in a run: what is found, what is left out, and what fixes make of the file."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from distlint.engine.fix import repair
from distlint.engine.ignores import add_ignores
from distlint.engine.run import check_paths, check_stdin
from distlint.engine.settings import Overrides, Resolver
from distlint.engine.tracing import trace_file
from distlint.source.edits import changed_lines
from distlint.source.report import Report
from tests.engine.conftest import write
from tests.engine.test_check import lines
from tests.notebooks import code, markdown, notebook, sources

SETUP = "import torch\nimport torch.distributed as dist\n\nx = torch.ones(1)"
BUG = "if dist.get_rank() == 0:\n    dist.all_reduce(x)\ndist.barrier()"


def run(*paths: str, **overrides: object) -> Report:
    resolver = Resolver(Overrides(**overrides))  # type: ignore[arg-type]
    return check_paths([Path(path) for path in paths] or [Path()], resolver, jobs=1)


def told(report: Report) -> list[str]:
    return [
        f"{f.place.path.name}:{f.place.cell}:{f.place.span.row}:{f.place.span.column} {f.code}"
        for f in report.findings
    ]


def fixed(unsafe: bool = True) -> list[str]:
    """Fix all that there is; what is said about it."""
    report = run()
    return [n.message for n in repair(report, Resolver(), unsafe=unsafe, write=True).notices]


class TestChecking:
    def test_cells_are_one_program(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook(markdown("# x"), SETUP, "%%time\n" + BUG)})
        report = run()
        assert told(report) == ["a.ipynb:3:2:1 DST101"]
        (item,) = report.reported
        assert item.noqa_row == 2
        assert item.frame is not None
        assert (item.frame.first_row, item.frame.lines[0]) == (1, "%%time")
        related = [(each.place.cell, each.place.span.row) for each in item.finding.related]
        assert related == [(3, 3), (3, 4)]
        assert item.proposed[0].endswith("@@ cell 3")

    def test_cells_that_do_not_parse_are_named_and_the_rest_is_checked(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook(SETUP, "x = (1,\n\ny = ]", BUG, "print 'x'")})
        report = run()
        assert told(report) == [
            "a.ipynb:2:3:5 DST000",
            "a.ipynb:3:1:1 DST101",
            "a.ipynb:4:1:1 DST000",
        ]
        assert "opening parenthesis '(' on line 1" in report.findings[0].message

    def test_what_only_ipython_takes(self, project: Path) -> None:
        cells = ("  x = 1\n  y = 2", "pip install torch\nls", "await x", "dist.barrier?", "!x y")
        write(project, {"a.ipynb": notebook(SETUP, *cells)})
        assert told(run()) == []

    def test_warnings_about_the_code_are_for_other_tools(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook(SETUP, "s = '\\d'\ns is 'x'")})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert told(run()) == []

    def test_a_cell_is_python_by_itself(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook("x = (", "1)")})
        assert told(run()) == ["a.ipynb:1:1:5 DST000", "a.ipynb:2:1:2 DST000"]

    def test_what_each_cell_passes_and_all_together_do_not(self, project: Path) -> None:
        odd = notebook(SETUP, "x = 'SURROGATE'", BUG).replace("SURROGATE", "\\ud800")
        write(project, {"a.ipynb": odd})
        (found,) = run().findings
        assert (found.code, found.place.cell > 0) == ("DST000", True)

    def test_other_languages_are_told_only_when_named(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook("x <- 1", language="R")})
        assert lines(run()) == []
        assert run().checked == 0
        assert lines(run("a.ipynb")) == [
            "nothing: a.ipynb: nothing to check: notebook language is r"
        ]

    def test_no_notebook(self, project: Path) -> None:
        write(project, {"a.ipynb": '{"cells": []}', "b.ipynb": "{'cells': []}"})
        report = run()
        assert told(report) == ["b.ipynb:0:1:2 DST000"]
        assert report.findings[0].message.startswith("not a notebook: Expecting property name")
        assert report.checked == 2

    def test_outputs_do_not_count_for_the_size(self, project: Path) -> None:
        picture = {"output_type": "display_data", "data": {"image/png": "x" * 5000}}
        write(
            project,
            {
                "distlint.toml": "max-file-size = 1000",
                "a.ipynb": notebook(SETUP, code(BUG, outputs=[picture])),
                "b.ipynb": notebook(SETUP, "x = 1\n" * 1000),
            },
        )
        report = run()
        assert told(report) == ["a.ipynb:2:1:1 DST101"]
        assert lines(report) == [
            "skipped: b.ipynb: larger than max-file-size (6,068 of 1,000 bytes)"
        ]

    def test_what_is_excluded_and_what_jupyter_keeps_beside(self, project: Path) -> None:
        text = notebook(SETUP, BUG)
        write(
            project,
            {
                "distlint.toml": 'extend-exclude = ["b.ipynb"]',
                "b.ipynb": text,
                ".ipynb_checkpoints/a-checkpoint.ipynb": text,
                "a.ipynb": text,
            },
        )
        assert told(run()) == ["a.ipynb:2:1:1 DST101"]

    def test_imports_lead_out_of_a_notebook(self, project: Path) -> None:
        helper = f"{SETUP}\n\ndef meet():\n    dist.all_reduce(x)\n"
        call = "from helper import meet\nif dist.get_rank() == 0:\n    meet()\ndist.barrier()"
        write(project, {"helper.py": helper, "a.ipynb": notebook(SETUP, call)})
        assert told(run()) == ["a.ipynb:2:2:1 DST101"]

    def test_standard_input(self) -> None:
        data = notebook(SETUP, BUG).encode()
        report = check_stdin(data, Path("a.ipynb"), Resolver(Overrides(isolated=True)))
        assert told(report) == ["a.ipynb:2:1:1 DST101"]

    def test_a_trace_is_told_by_cell(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook(SETUP, BUG)})
        (trace,) = trace_file(project / "a.ipynb", None, None, Resolver())
        cells = {step.place.cell for row in trace.rows for step in row if step and step.place}
        assert cells == {2}


class TestLauncher:
    TRAIN = (
        "def train(flag):\n"
        "    accelerator = Accelerator()\n"
        "    if flag and accelerator.is_main_process:\n"
        "        accelerator.wait_for_everyone()\n"
    )
    IMPORT = "from accelerate import Accelerator, notebook_launcher"

    def found(self, project: Path, *cells: str) -> list[str]:
        write(project, {"a.ipynb": notebook(self.IMPORT, *cells)})
        return told(run())

    def test_what_it_is_given_is_what_the_ranks_run(self, project: Path) -> None:
        launch = "notebook_launcher(train, args=({},), num_processes=2)"
        assert self.found(project, self.TRAIN, launch.format(True)) == ["a.ipynb:2:3:5 DST101"]
        assert self.found(project, self.TRAIN, launch.format(False)) == []

    def test_the_cells_around_it_are_run_once(self, project: Path) -> None:
        save = "import os\nimport torch\nos.mkdir('out')\ntorch.save(1, 'out/x.pt')"
        train = "def train():\n    accelerator = Accelerator()\n    accelerator.wait_for_everyone()"
        launch = "notebook_launcher(train, num_processes=2)"
        assert self.found(project, train, save, launch) == []


class TestSuppression:
    def test_a_comment_at_the_end_of_a_cell_is_not_about_the_next(self, project: Path) -> None:
        above = "# distlint: ignore[DST101]\n" + BUG
        write(project, {"a.ipynb": notebook(SETUP, above)})
        assert told(run()) == []
        write(project, {"a.ipynb": notebook(SETUP + "\n# distlint: ignore[DST101]", BUG)})
        assert told(run()) == ["a.ipynb:1:5:1 DST001", "a.ipynb:2:1:1 DST101"]

    def test_a_file_comment_is_about_the_notebook(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook("# distlint: file-ignore[DST101]", SETUP, BUG)})
        assert told(run()) == []

    def test_an_unused_comment_is_removed(self, project: Path) -> None:
        before = notebook(SETUP, "x += 1  # distlint: ignore[DST101]")
        write(project, {"a.ipynb": before})
        assert fixed(unsafe=False) == []
        after = (project / "a.ipynb").read_text()
        assert after == before.replace("  # distlint: ignore[DST101]", "")

    def test_comments_are_written_to_cells(self, project: Path) -> None:
        write(project, {"a.ipynb": notebook(SETUP, BUG)})
        added = add_ignores(run(), Resolver(), "known", write=True)
        assert added.count == 1
        cells = sources((project / "a.ipynb").read_text())
        assert cells[0] == SETUP
        line = "if dist.get_rank() == 0:  # distlint: ignore[DST101] -- known\n"
        assert cells[1].startswith(line)
        assert told(run()) == []


class TestFixing:
    def test_only_the_source_of_the_cell_changes(self, project: Path) -> None:
        text = notebook(markdown("ä"), SETUP, "%%time\n!ls\n" + BUG, "x = !ls")
        write(project, {"a.ipynb": text})
        assert fixed() == []
        after = (project / "a.ipynb").read_text()
        changed = [line for line in changed_lines(text, after, 0) if line[0] in "+-"]
        assert changed == [
            '-    "if dist.get_rank() == 0:\\n",\n',
            '-    "    dist.all_reduce(x)\\n",\n',
            '+    "dist.all_reduce(x)\\n",\n',
        ]
        assert told(run()) == []

    def test_a_fix_in_two_cells(self, project: Path) -> None:
        loop = (
            "model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))\n"
            "for step in range(9):\n"
            "    loss = model(x).sum()\n"
            "    loss.backward()\n"
            "    if loss.item() < 1:\n"
            "        break\n"
            "dist.barrier()"
        )
        write(project, {"a.ipynb": notebook(SETUP, loop)})
        assert told(run()) == ["a.ipynb:2:6:9 DST102"]
        assert fixed() == []
        first, second = sources((project / "a.ipynb").read_text())
        assert "from distlint.runtime import any_rank\n" in first
        assert "    if any_rank(loss.item() < 1):\n" in second

    def test_no_fix_is_offered_that_would_move_a_magic(self, project: Path) -> None:
        bug = "if dist.get_rank() == 0:\n    %env A=1\n    dist.all_reduce(x)\ndist.barrier()"
        text = notebook(SETUP, bug)
        write(project, {"a.ipynb": text})
        (finding,) = run().findings
        fixed()
        cells = sources((project / "a.ipynb").read_text())
        assert "    %env A=1\n" in cells[1]
        if finding.fix is None:
            assert (project / "a.ipynb").read_text() == text

    def test_cells_that_are_broken_stay_as_they_are(self, project: Path) -> None:
        broken = "x = (\n\nif dist"
        write(project, {"a.ipynb": notebook(SETUP, broken, BUG)})
        assert fixed() == []
        cells = sources((project / "a.ipynb").read_text())
        assert cells[:2] == [SETUP, broken]
        assert cells[2] == "dist.all_reduce(x)\ndist.barrier()"

    @pytest.mark.parametrize("indent", [None, 1, 4])
    def test_a_source_in_one_string(self, project: Path, indent: int | None) -> None:
        text = notebook(SETUP, code("", source=BUG), indent=indent)
        write(project, {"a.ipynb": text})
        fixed()
        after = (project / "a.ipynb").read_text()
        old = BUG.replace("\n", "\\n")
        assert after == text.replace(old, "dist.all_reduce(x)\\ndist.barrier()")


START = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("gloo")\n'
SCRIPT = f"{START}x = torch.ones(1)\n{BUG}\n"
IGNORED = SCRIPT.replace("== 0:", "== 0:  # distlint: ignore[DST101]")


class TestFilesThatCellsWrite:
    def test_each_is_a_program_of_its_own(self, project: Path) -> None:
        around = "x = 1\nif False:\n    dist.barrier()"
        cells = [around, f"%%writefile train.py\n{SCRIPT}", "!torchrun train.py", "%%bash\nls"]
        write(project, {"a.ipynb": notebook(*cells)})
        report = run()
        assert told(report) == ["a.ipynb:2:7:1 DST101"]
        (item,) = report.reported
        assert item.noqa_row == 7
        assert item.frame is not None
        assert (item.frame.first_row, item.frame.lines[2]) == (5, "if dist.get_rank() == 0:")
        assert {each.place.cell for each in item.finding.related} == {2}

    def test_two_files_know_nothing_of_each_other(self, project: Path) -> None:
        first = f"%%writefile 'a b.py'\n{START}x = torch.ones(1)"
        cells = [first, f"%%file other.py\n{BUG}", f"%%writefile src/c.py\n{SCRIPT}"]
        write(project, {"a.ipynb": notebook(*cells)})
        assert told(run()) == ["a.ipynb:3:7:1 DST101"]

    def test_a_file_may_be_written_in_parts(self, project: Path) -> None:
        parts = ["%%writefile t.py\n" + START + "class A:\n    def f(self, x):\n        pass"]
        parts += ["y = 1", "%%writefile -a t.py\n    def g(self, x):\n        return x"]
        parts += [f"\n%%writefile --append t.py\nx = torch.ones(1)\n{BUG}"]
        write(project, {"a.ipynb": notebook(*parts)})
        assert told(run()) == ["a.ipynb:4:4:1 DST101"]

    def test_written_again_it_is_another_file(self, project: Path) -> None:
        cells = [f"%%writefile t.py\n{START}", f"%%writefile t.py\n{BUG}"]
        write(project, {"a.ipynb": notebook(*cells)})
        assert told(run()) == []

    def test_magics_are_none_in_it(self, project: Path) -> None:
        cells = ["%%writefile t.py\nx = 1\n!ls", "%%writefile config.yaml\na: [", SETUP]
        write(project, {"a.ipynb": notebook(*cells)})
        assert told(run()) == ["a.ipynb:1:3:1 DST000"]

    def test_a_mistake_is_told_once_and_where_it_is(self, project: Path) -> None:
        cells = ["%%writefile t.py\nclass A:\n    x = 1", "%%writefile -a t.py\n    y = (\n"]
        write(project, {"a.ipynb": notebook(*cells, SETUP + "\n" + BUG)})
        found = told(run())
        assert found == ["a.ipynb:2:2:9 DST000", "a.ipynb:3:5:1 DST101"]

    def test_a_mistake_of_the_notebook_leaves_the_files_to_be_checked(self, project: Path) -> None:
        cells = ["return 1", f"%%writefile train.py\n{SCRIPT}"]
        write(project, {"a.ipynb": notebook(*cells)})
        assert "a.ipynb:2:7:1 DST101" in told(run())

    def test_comments_count_in_their_file(self, project: Path) -> None:
        unused = IGNORED.replace("get_rank() == 0", "is_initialized()")
        cells = [f"%%writefile {n}.py\n{text}" for n, text in enumerate((IGNORED, unused, SCRIPT))]
        write(project, {"a.ipynb": notebook(*cells)})
        assert told(run()) == ["a.ipynb:2:7:28 DST001", "a.ipynb:3:7:1 DST101"]

    @pytest.mark.parametrize("indent", [None, 1, 4])
    def test_fixes_of_all_of_them(self, project: Path, indent: int | None) -> None:
        cells = [f"{START}x = torch.ones(1)\n{BUG}", markdown("# and"), "%%bash\ntorchrun train.py"]
        cells += [f"%%writefile {n}.py\n{SCRIPT}" for n in range(2)]
        text = notebook(*cells, indent=indent)
        write(project, {"a.ipynb": text})
        assert fixed() == []
        after = (project / "a.ipynb").read_text()
        assert run().findings == ()
        plain = BUG.replace("if dist.get_rank() == 0:\n    ", "")
        assert sources(after) == [each.replace(BUG, plain) for each in sources(text)]
        assert after == _with_sources(text, sources(after), indent)

    def test_comments_for_all_of_them(self, project: Path) -> None:
        cells = [
            f"{START}x = torch.ones(1)\n{BUG}",
            *(f"%%writefile {n}.py\n{SCRIPT}" for n in "ab"),
        ]
        write(project, {"a.ipynb": notebook(*cells)})
        added = add_ignores(run(), Resolver(), "", write=True)
        assert (added.count, added.notices) == (3, [])
        assert run().findings == ()

    def test_a_change_in_what_it_imports_is_noticed(self, project: Path) -> None:
        helper = "import torch.distributed as dist\ndef first():\n    return {}\n"
        script = SCRIPT.replace("dist.get_rank() == 0", "helper.first()")
        cell = f"%%writefile train.py\nimport helper\n{script}"
        write(project, {"a.ipynb": notebook(cell), "helper.py": helper.format("True")})
        for answer, expected in (("True", 0), ("dist.get_rank() == 0", 1), ("True", 0)):
            write(project, {"helper.py": helper.format(answer)})
            for _ in range(2):
                report = check_paths([Path()], Resolver(), jobs=1, caching=True)
                assert len(report.findings) == expected


def _with_sources(text: str, wanted: list[str], indent: int | None) -> str:
    content = json.loads(text)
    for cell, source in zip(content["cells"], wanted, strict=True):
        cell["source"] = source.splitlines(keepends=True)
    return json.dumps(content, indent=indent, ensure_ascii=False) + "\n"
