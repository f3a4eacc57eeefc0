"""Checking: selection, severities, what bad input gets, and that one bad file ends nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.engine import check, workers
from distlint.engine.errors import ConfigError
from distlint.engine.run import check_paths, check_stdin
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from distlint.rules.found import Found
from distlint.source.document import Document
from distlint.source.finding import Severity
from distlint.source.report import Report
from tests.engine.conftest import finding, marked, write
from tests.hostile import SCRIPT


def run(*paths: str, jobs: int | None = 1, **overrides: object) -> Report:
    resolver = Resolver(Overrides(**overrides))  # type: ignore[arg-type]
    return check_paths([Path(path) for path in paths] or [Path()], resolver, jobs=jobs)


def codes(report: Report) -> list[tuple[str, int, str]]:
    return [(f.place.path.name, f.place.span.row, f.code) for f in report.findings]


def lines(report: Report) -> list[str]:
    """The notices, as a user reads them."""
    return [
        f"{notice.kind}: {os.path.relpath(notice.path) if notice.path else '-'}: {notice.message}"
        for notice in report.notices
    ]


@pytest.mark.usefixtures("analysis")
class TestSelection:
    def test_findings_come_in_the_order_of_files_and_rows(self, project: Path) -> None:
        write(project, {"b.py": "x\nBUG\nBUG", "a.py": "BUG2"})
        report = run()
        assert codes(report) == [
            ("a.py", 1, "DST102"),
            ("b.py", 2, "DST101"),
            ("b.py", 3, "DST101"),
        ]
        assert report.fails
        assert (report.checked, report.skipped, report.failed) == (2, 0, False)

    def test_select_and_ignore(self, project: Path) -> None:
        write(project, {"a.py": "BUG\nBUG2"})
        assert len(run(layer=Layer(select=("DST102",))).findings) == 1
        assert len(run(layer=Layer(ignore=("unsynced-break",))).findings) == 1

    def test_per_file_ignores(self, project: Path) -> None:
        write(project, {"tests/a.py": "BUG", "src/a.py": "BUG", "src/b.py": "BUG"})
        write(
            project, {"distlint.toml": '[per-file-ignores]\n"tests/*" = ["DST1"]\n"a.py" = ["ALL"]'}
        )
        assert codes(run()) == [("b.py", 1, "DST101")]

    def test_each_file_is_judged_by_its_own_configuration(self, project: Path) -> None:
        write(project, {"a.py": "BUG", "sub/a.py": "BUG"})
        write(project, {"sub/distlint.toml": 'ignore = ["DST101"]'})
        assert len(run().findings) == 1

    def test_severities_and_what_fails(self, project: Path) -> None:
        write(project, {"a.py": "BUG", "distlint.toml": '[severity]\nDST1 = "info"'})
        report = run()
        assert report.findings[0].severity is Severity.INFO
        assert not report.fails
        assert run(fail_on=Severity.INFO).fails

    def test_a_rule_in_preview_is_off_until_asked_for(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from distlint.rules.registry import rules

        monkeypatch.setattr(rules()["DST101"], "preview", True)
        write(project, {"a.py": "BUG"})
        assert run().findings == ()
        assert len(run(preview=True).findings) == 1
        assert len(run(layer=Layer(extend_select=("DST101",))).findings) == 1

    def test_a_rule_that_does_not_exist_yet_gets_a_warning(self, project: Path) -> None:
        write(project, {"a.py": ""})
        report = run(layer=Layer(select=("empty-cache-in-loop", "DST3")))
        assert lines(report) == [
            "warning: -: DST306 (empty-cache-in-loop) is not implemented in this version"
        ]

    def test_the_same_branch_and_collective_from_two_files_is_one_finding(
        self, project: Path, analysis: Callable[[Callable[..., Found]], None]
    ) -> None:
        write(project, {"a.py": "", "b.py": ""})
        helper = project / "helper" / "x.py"
        write(project, {"helper/x.py": "BUG"})
        analysis(lambda document, project: Found([finding(helper)]))
        assert len(run("a.py", "b.py").findings) == 1

    def test_a_bad_configuration_ends_the_run(self, project: Path) -> None:
        write(project, {"a.py": "BUG", "sub/b.py": "", "sub/distlint.toml": "slect = 1"})
        with pytest.raises(ConfigError, match=r"sub.distlint\.toml: unknown key `slect`"):
            run(".")
        with pytest.raises(ConfigError, match=r"sub.distlint\.toml: unknown key `slect`"):
            run("a.py", "sub/b.py")


@pytest.mark.parametrize(
    ("select", "roots", "found"),
    [(("DST406",), 0, ["DST406"]), (("DST101",), 1, ["DST101"]), ((), 0, [])],
)
def test_ranks_are_compared_only_for_rules_that_are_asked(
    project: Path, select: tuple[str, ...], roots: int, found: list[str]
) -> None:
    source = (
        "import torch\nimport torch.distributed as dist\ndist.init_process_group('gloo')\n"
        "torch.save({}, 'a.pt')\nif dist.get_rank() == 0:\n    dist.barrier()\n"
    )
    write(project, {"a.py": source})
    report = run(layer=Layer(select=select))
    assert (report.roots, [finding.code for finding in report.findings]) == (roots, found)


class TestBadInput:
    @pytest.mark.parametrize(
        ("data", "row", "message"),
        [
            (b"x = 1\ndef f(:\n", 2, "invalid syntax"),
            (b"import torch\nbarrier(\n", 2, "'(' was never closed"),
            (b"import torch; barrier()\nx = '\n", 2, "unterminated string literal"),
            (b"print 'Python 2'\n", 1, "Missing parentheses in call to 'print'"),
            (b"if x:\nbarrier()\n", 2, "expected an indented block"),
            (b"import torch\nbarrier('\xe4')\n", 2, "byte 0xe4 is not valid UTF-8"),
            (b"\x7fELF\0\0torch barrier", 1, "binary file (it contains a NUL byte)"),
        ],
    )
    def test_a_file_that_is_no_python(
        self, project: Path, data: bytes, row: int, message: str
    ) -> None:
        (project / "bad.py").write_bytes(data)
        write(project, {"good.py": "x = 1\n"})
        report = run()
        assert codes(report) == [("bad.py", row, "DST000")]
        assert report.findings[0].message.startswith(message)
        assert report.findings[0].severity is Severity.ERROR
        assert report.reported[0].noqa_row is None
        assert report.fails
        assert not report.failed
        assert report.checked == 2

    def test_it_can_be_left_out(self, project: Path) -> None:
        write(project, {"template.py": "{% x %}", "distlint.toml": 'ignore = ["syntax-error"]'})
        assert run().findings == ()

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "\n",
            "\x0c\n",
            "\ufeffx = 1\n",
            "# -*- coding: utf-8 -*-\n",
            "x = '\\d'\n",
            "type X[T] = list[T]\n",
            "x = f'{'a'}'\n",
            "try:\n    pass\nexcept* OSError:\n    pass\n",
            f"x = {'(' * 200}1{')' * 200}\n",
            f"x = {' + '.join(['1'] * 1000)}\n",
            f"x = {'not ' * 900}1\n",
            f"x = a{'.b' * 1000}\n",
            f"x = {'-' * 900}1\n",
            "".join(f"{' ' * depth}if x:\n" for depth in range(90)) + " " * 90 + "pass\n",
        ],
        ids=lambda text: text[:12],
    )
    @pytest.mark.parametrize("distributed", [False, True])
    def test_python_of_any_shape_is_fine(self, project: Path, text: str, distributed: bool) -> None:
        tail = "import torch\ntorch.distributed.barrier()\n" if distributed else ""
        (project / "a.py").write_text(text + tail, encoding="utf-8")
        report = run()
        assert codes(report) == []
        assert lines(report) == []

    @pytest.mark.parametrize(
        ("text", "row", "reason"),
        [
            (f"import torch; barrier({'f(' * 9000}{')' * 9000})\n", 1, "chained operators, calls"),
            (f"import torch\nbarrier({' + '.join(['1'] * 9000)})\n", 2, "chained operators, calls"),
            ("import torch\nif barrier: y\n" + "elif x: y\n" * 1500, 1003, "1,000 branches"),
        ],
        ids=["brackets", "operators", "branches"],
    )
    def test_what_no_parser_survives_is_a_finding(
        self, project: Path, text: str, row: int, reason: str
    ) -> None:
        write(project, {"deep.py": text, "good.py": SCRIPT})
        report = run()
        assert codes(report) == [("deep.py", row, "DST000"), ("good.py", 2, "DST101")]
        assert report.findings[0].message.startswith("not analysed: more than ")
        assert reason in report.findings[0].message
        assert (report.checked, report.failed) == (2, False)

    def test_a_module_that_no_parser_survives_is_not_followed(self, project: Path) -> None:
        deep = "def leave(flag):\n    if rank == 0: return\n" + f"x = {'lambda: ' * 5000}1\n"
        text = "import torch.distributed as dist\nfrom deep import leave\nleave(dist.get_rank())\n"
        write(project, {"deep.py": deep, "a.py": text})
        assert codes(run("a.py")) == []

    def test_a_template_is_skipped_where_it_may_become_a_configuration(self, project: Path) -> None:
        head = '"train_micro_batch_size_per_gpu": 4'
        files = {
            "ds_config.json": "{" + head + '{% if x %}, "zero_optimization": {}{% endif %}}',
            "plain.json": "{" + head + ', "prompt": "{% if x %}"}',
            "prompts.json": '{"prompt": {{ x }}{% y %}}',
            "prompts.yml": "prompt: {% y %}",
        }
        write(project, files)
        assert lines(run()) == ["skipped: ds_config.json: not checked: the file is a template"]

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("{{cookiecutter.name}}/train.py", "{% if x %}\nprint(\n"),
            ("src/train_{{ name }}.py", "from .{{ name }} import Net\n"),
            ("model.py", "from .nets import {{ name }}Net\n\nnet = {{name}}Net({{ size }})\n"),
            ("tags.py", "{% if ddp %}\nimport torch\n{% else %}\nimport jax\n{% endif %}\n"),
            ("comment.py", "{# filled in\n by copier #}\nx = 1\n"),
            ("inline.py", "x = 1{% if y %} + 2{% endif %}\n"),
        ],
    )
    def test_a_template_of_python_is_skipped(self, project: Path, file: str, text: str) -> None:
        write(project, {file: text})
        report = run()
        assert (codes(report), report.failed) == ([], False)
        assert lines(report) == [f"skipped: {file}: not checked: the file is a template"]

    @pytest.mark.parametrize(
        "text",
        [
            'print(f"{{x}}"\n',
            'PROMPT = """\n{% for m in messages %}\n{{ m }}\n{% endfor %}\n"""\ndef f(:\n',
            'print "{{ x }}"\n',
            "x = {{ y }\n",
        ],
    )
    def test_braces_beside_an_error_are_no_template(self, project: Path, text: str) -> None:
        write(project, {"a.py": text})
        assert [code for _, _, code in codes(run())] == ["DST000"]

    def test_a_large_file_is_skipped(self, project: Path) -> None:
        write(project, {"a.py": "x = 1\n" * 20, "b.py": "", "distlint.toml": "max-file-size = 100"})
        report = run()
        assert lines(report) == ["skipped: a.py: larger than max-file-size (120 of 100 bytes)"]
        assert (report.checked, report.skipped) == (1, 1)
        write(project, {"distlint.toml": "max-file-size = 0"})
        assert lines(run()) == []

    def test_a_file_that_cannot_be_read(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(project, {"a.py": "", "b.py": "def"})
        read = Path.read_bytes

        def refuse(path: Path) -> bytes:
            if path.name == "a.py":
                raise PermissionError(13, "Permission denied")
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", refuse)
        report = run()
        assert lines(report) == ["failed: a.py: cannot read file: permission denied"]
        assert report.failed
        assert codes(report) == [("b.py", 1, "DST000")]

    def test_named_files_that_hold_nothing_to_check(self, project: Path) -> None:
        write(project, {"notes.md": "# x", "run": "#!/usr/bin/env python3\ndef", "data": "\0"})
        report = run("notes.md", "run", "data")
        assert lines(report) == [
            "nothing: data: nothing to check: unsupported file type",
            "nothing: notes.md: nothing to check: unsupported file type",
        ]
        assert codes(report) == [("run", 2, "DST000")]
        assert not report.failed

    def test_strange_names(self, project: Path) -> None:
        for name in (b"two\nlines.py", b"caf\xe9.py"):
            (project / os.fsdecode(name)).write_text("def")
        assert [code for _, _, code in codes(run())] == ["DST000", "DST000"]


class TestCrash:
    def crash(self, document: Document, project: object) -> Found:
        if document.path.name == "crash.py":
            raise RuntimeError("boom")
        return marked(document, project)  # type: ignore[arg-type]

    def test_one_file_is_reported_and_the_run_goes_on(
        self, project: Path, analysis: Callable[[Callable[..., Found]], None]
    ) -> None:
        analysis(self.crash)
        write(project, {"a.py": "BUG", "crash.py": "", "d.py": "BUG"})
        report = run()
        assert lines(report) == ["failed: crash.py: internal error: RuntimeError: boom"]
        assert "Traceback" in report.notices[0].detail
        assert report.failed
        assert len(report.findings) == 2

    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("error", [RecursionError, MemoryError])
    def test_a_lack_of_stack_or_memory_is_a_crash_like_any_other(
        self,
        project: Path,
        analysis: Callable[[Callable[..., Found]], None],
        error: type[Exception],
        jobs: int,
    ) -> None:
        def recurse() -> Found:
            return recurse()

        def crash(document: Document, project: object) -> Found:
            if document.path.name != "crash.py":
                return marked(document, project)  # type: ignore[arg-type]
            if error is RecursionError:
                return recurse()
            raise MemoryError

        analysis(crash)
        write(project, {"a.py": "BUG", "crash.py": "", "d.py": "BUG"})
        report = run(jobs=jobs)
        assert report.failed
        assert [line[: line.find(error.__name__)] for line in lines(report)] == [
            "failed: crash.py: internal error: "
        ]
        assert len(report.findings) == 2

    def test_a_parser_that_gives_up_in_its_own_language_is_a_finding(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class PanicException(BaseException):
            """As Rust raises it."""

        def panic(text: str) -> None:
            raise PanicException("out of bounds")

        monkeypatch.setattr("libcst.parse_module", panic)
        write(project, {"a.py": SCRIPT})
        report = run()
        assert codes(report) == [("a.py", 1, "DST000")]
        assert report.findings[0].message == "the parser failed: out of bounds"


class TestStandardInput:
    def test_it_goes_by_the_name_given(self, project: Path, analysis: object) -> None:
        write(project, {"sub/distlint.toml": 'ignore = ["DST101"]'})
        assert len(check_stdin(b"BUG", None, Resolver()).findings) == 1
        assert check_stdin(b"BUG", Path("sub/new.py"), Resolver()).findings == ()
        report = check_stdin(b"BUG", Path("new.py"), Resolver())
        assert report.findings[0].place.path == project / "new.py"

    def test_an_excluded_name(self, project: Path, analysis: object) -> None:
        path = Path("venv/x.py")
        assert len(check_stdin(b"BUG", path, Resolver()).findings) == 1
        assert check_stdin(b"BUG", path, Resolver(), force_exclude=True).findings == ()


class TestWorkers:
    def test_how_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workers, "_cores", lambda: 8)
        assert [workers.worker_count(None, files) for files in (0, 1, 31, 32, 500)] == [
            1,
            1,
            1,
            8,
            8,
        ]
        assert workers.worker_count(0, 5) == 5
        assert workers.worker_count(3, 500) == 3
        assert workers.worker_count(1, 500) == 1

    def test_the_result_is_the_same(self, project: Path) -> None:
        script = "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n"
        for number in range(12):
            text = script if number % 2 else f"{script}def"
            write(project, {f"p{number % 3}/m{number}.py": text})
        assert run(jobs=3) == run(jobs=1)
        assert len(run(jobs=3).findings) == 12

    def test_little_memory_changes_no_result(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(
            project,
            {
                "core/__init__.py": "",
                "core/sync.py": "import torch.distributed as dist\nfrom core.meet import meet\n"
                "def sync():\n    if dist.get_rank() == 0:\n        meet()\n",
                "core/meet.py": "import torch.distributed as dist\nfrom core import sync\n"
                "def meet():\n    dist.barrier()\n",
                "zoo.py": "import torch.distributed as dist\n",
            },
        )
        script = "import torch.distributed as dist\nfrom core.sync import sync\nsync()\n"
        for number in range(20):
            write(project, {f"runs/m{number}.py": f"{script}x = {number}\n"})
        expected = run()
        built: list[str] = []
        build = Project._build

        def noted(self: Project, document: Document) -> Module:
            built.append(document.path.name)
            return build(self, document)

        monkeypatch.setattr(Project, "_build", noted)
        monkeypatch.setattr(workers, "TEXT_AT_ONCE", 1)
        assert run() == expected
        assert expected.findings
        assert built.count("sync.py") == built.count("meet.py") == 1  # what all of them import

    def test_what_was_let_go_of_is_read_again(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        helper = "import torch.distributed as dist\ndef meet():\n    dist.barrier()\n"
        script = (
            "import torch.distributed as dist\nfrom helper import meet\n"
            "if dist.get_rank() == 0:\n    meet()\n"
        )
        write(project, {"helper.py": helper, "a.py": script, "z.py": script})
        for number in range(40):
            write(project, {f"m{number}.py": "import torch.distributed as dist\ndist.barrier()\n"})
        expected = run()
        monkeypatch.setattr(workers, "TEXT_AT_ONCE", 1)
        assert run() == expected
        assert {f.place.path.name for f in expected.findings} >= {"a.py", "z.py"}

    def test_a_worker_that_dies_takes_no_other_file_along(
        self,
        project: Path,
        analysis: Callable[[Callable[..., Found]], None],
    ) -> None:
        def die(document: Document, project: object) -> Found:
            if document.path.name == "m5.py":
                os._exit(11)
            return marked(document, project)  # type: ignore[arg-type]

        analysis(die)
        for number in range(8):
            write(project, {f"m{number}.py": "BUG"})
        report = run(jobs=2)
        message = "internal error: the process that analysed this file was killed"
        assert lines(report) == [f"failed: m5.py: {message}"]
        assert len(report.findings) == 7

    def test_progress_reaches_the_end(self, project: Path) -> None:
        class Count:
            total = done = 0

            def start(self, total: int) -> None:
                self.total = total

            def advance(self, count: int) -> None:
                self.done += count

        write(project, {f"m{number}.py": "" for number in range(5)})
        for jobs in (1, 2):
            count = Count()
            check_paths([Path()], Resolver(), jobs=jobs, progress=count)
            assert (count.total, count.done) == (5, 5)


def test_a_file_without_distributed_words_is_not_analysed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check.Session, "_find", lambda *_: pytest.fail("analysed"))
    write(project, {"a.py": "print('hello')\n"})
    assert run().checked == 1


LIBRARY = """\
import torch.distributed as dist

def train(batches):
    for batch in batches:
        if dist.get_rank() == 0 and len(batch) > 3:
            break
        dist.all_reduce(batch)
"""


def test_what_a_file_is_told_is_not_told_again_to_those_who_call_it(project: Path) -> None:
    script = """\
import torch.distributed as dist
from library import train
from data import batches

dist.init_process_group("gloo")
train(batches())
"""
    write(project, {"library.py": LIBRARY, "one.py": script, "two.py": script})
    found = [(name, row, code) for name, row, code in codes(run()) if code == "DST104"]
    assert found == [("library.py", 6, "DST104")]
    assert ("one.py", 6, "DST104") in codes(run("one.py"))


def test_what_calls_of_one_function_tell_is_told_once(project: Path) -> None:
    library = """\
import torch.distributed as dist

def leave(flag):
    if flag:
        return
    dist.barrier()
"""
    script = """\
import torch.distributed as dist
from library import leave

dist.init_process_group("gloo")
leave(dist.get_rank() == 0)
"""
    write(project, {"library.py": library, "one.py": script, "two.py": script})
    assert [name for name, _, code in codes(run()) if code == "DST104"] == ["one.py"]
    assert [name for name, _, code in codes(run("two.py")) if code == "DST104"] == ["two.py"]
