"""The cache: what is asked for again, what makes it void, and that it never changes a result."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from distlint.engine import cache, cache_identity, check
from distlint.engine.cache_folder import FOLDER
from distlint.engine.discovery import Target
from distlint.engine.results import FileResult
from distlint.engine.run import check_paths
from distlint.engine.selection import Layer
from distlint.engine.settings import Overrides, Resolver
from distlint.rules.find import Search
from distlint.rules.found import Found
from distlint.source.finding import Severity
from distlint.source.report import Report
from tests.engine.conftest import write

CALLER = """\
import torch.distributed as dist
from {module} import helper

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    helper()
"""
MEETS = """\
import torch.distributed as dist


def helper():
    dist.barrier()
"""
QUIET = """\
import torch.distributed as dist


def helper():
    print(dist.get_rank())
"""
PASSES_ON = """\
import torch.distributed as dist
import {module}


def helper():
    print(dist.get_rank())
    {module}.helper()
"""

LAUNCH = "deepspeed --num_gpus 4 t.py --deepspeed ds.json --gradient_accumulation_steps 8\n"
STEPS = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": %d, "own_key": 1}\n'

SHARES = """\
import os


def helper():
    os.makedirs("out")
"""
ON_ALL = """\
import torch.distributed as dist
from {module} import helper

dist.init_process_group("gloo")
helper()
"""
HANDS_ON = """\
from {module} import helper
"""

Analysed = Callable[..., list[str]]


@pytest.fixture
def analysed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Analysed:
    """Runs a check with the cache; tells the names of the files that were analysed."""
    names: list[str] = []
    check_file = check.Session.check_file

    def noting(session: check.Session, target: Target) -> FileResult:
        names.append(target.path.name)
        return check_file(session, target)

    monkeypatch.setattr(check.Session, "check_file", noting)

    def run(**overrides: object) -> list[str]:
        names.clear()
        report = checked(**overrides)
        found = list(names)
        assert report == checked(caching=False, **overrides)
        return found

    return run


def checked(caching: bool = True, jobs: int = 1, **overrides: object) -> Report:
    resolver = Resolver(Overrides(**overrides))  # type: ignore[arg-type]
    return check_paths([Path()], resolver, jobs=jobs, caching=caching)


def codes() -> list[str]:
    return [finding.code for finding in checked().findings]


def chain(project: Path) -> None:
    """a imports b, which imports c; d and e stand alone."""
    write(
        project,
        {
            "a.py": CALLER.format(module="b"),
            "b.py": PASSES_ON.format(module="c"),
            "c.py": MEETS,
            "d.py": CALLER.format(module="e"),
            "e.py": QUIET,
        },
    )


class TestWhatIsAskedForAgain:
    def test_nothing_when_nothing_has_changed(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        assert analysed() == ["a.py", "b.py", "c.py", "d.py", "e.py"]
        assert analysed() == []
        (finding,) = checked().findings
        assert (finding.place.path.name, finding.code) == ("a.py", "DST101")

    @pytest.mark.parametrize(
        ("changed", "dependants"),
        [
            ("a.py", ["a.py"]),
            ("b.py", ["a.py", "b.py"]),
            ("c.py", ["a.py", "b.py", "c.py"]),
            ("d.py", ["d.py"]),
            ("e.py", ["d.py", "e.py"]),
        ],
    )
    def test_exactly_the_dependants_of_what_has(
        self, project: Path, analysed: Analysed, changed: str, dependants: list[str]
    ) -> None:
        chain(project)
        analysed()
        path = project / changed
        path.write_text(path.read_text() + "\nextra = 1\n")
        assert analysed() == dependants
        assert analysed() == []

    def test_a_change_that_keeps_size_and_time_counts(
        self, project: Path, analysed: Analysed
    ) -> None:
        chain(project)
        analysed()
        path = project / "c.py"
        status = path.stat()
        path.write_text(MEETS.replace("dist.barrier()", "print('quiet')"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert path.stat().st_size == status.st_size
        assert analysed() == ["a.py", "b.py", "c.py"]
        assert checked().findings == ()

    def test_a_file_that_is_only_touched_does_not(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        analysed()
        for path in project.glob("*.py"):
            os.utime(path, (1, 1))
        assert analysed() == []

    def test_a_module_that_was_not_there(self, project: Path, analysed: Analysed) -> None:
        write(project, {"a.py": CALLER.format(module="b"), "d.py": QUIET})
        analysed()
        write(project, {"b.py": MEETS})
        assert analysed() == ["a.py", "b.py"]
        assert len(checked().findings) == 1
        (project / "b.py").unlink()
        assert analysed() == ["a.py"]

    def test_a_nearer_module_of_the_same_name(self, project: Path, analysed: Analysed) -> None:
        write(project, {"sub/a.py": CALLER.format(module="b"), "b.py": MEETS})
        analysed()
        write(project, {"sub/b.py": QUIET})
        assert analysed() == ["a.py", "b.py"]
        assert checked().findings == ()

    def test_a_module_that_could_not_be_parsed(self, project: Path, analysed: Analysed) -> None:
        broken = MEETS.replace("def helper():", "def helper(:")
        write(project, {"a.py": CALLER.format(module="b"), "b.py": broken})
        analysed()
        write(project, {"b.py": MEETS})
        assert analysed() == ["a.py", "b.py"]
        assert len(checked().findings) == 1

    def test_a_module_in_a_folder_with_settings_of_its_own(
        self, project: Path, analysed: Analysed
    ) -> None:
        write(project, {"a.py": CALLER.format(module="sub.b"), "sub/b.py": MEETS})
        analysed()
        write(project, {"sub/distlint.toml": 'ignore = ["DST103"]'})
        assert analysed() == ["a.py", "b.py"]
        assert analysed() == []

    def test_files_without_distributed_words_are_not_parsed_again(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(project, {f"m{n}.py": f"x = {n}\n" for n in range(20)})
        checked()
        monkeypatch.setattr(check, "_mistake", lambda document: pytest.fail("it was parsed"))
        assert checked().checked == 20

    def test_a_file_that_calls_what_another_shares(self, project: Path, analysed: Analysed) -> None:
        """What is said about a file may rest on those that import it, at any remove."""
        write(project, {"a.py": ON_ALL.format(module="b"), "b.py": HANDS_ON.format(module="c")})
        write(project, {"c.py": SHARES, "d.py": QUIET})
        analysed()
        assert codes() == ["DST414"]
        write(project, {"a.py": CALLER.format(module="b")})
        assert analysed() == ["a.py", "c.py"]
        assert codes() == []
        write(project, {"a.py": ON_ALL.format(module="b")})
        assert analysed() == ["a.py", "c.py"]
        assert codes() == ["DST414"]
        write(project, {"b.py": HANDS_ON.format(module="d")})
        assert "c.py" in analysed()
        assert codes() == []

    def test_an_importer_that_was_not_there(self, project: Path, analysed: Analysed) -> None:
        write(project, {"c.py": SHARES, "d.py": QUIET})
        analysed()
        write(project, {"e.py": "import c\n"})
        assert analysed() == ["c.py", "e.py"]
        write(project, {"sub/a.py": ON_ALL.format(module="c")})
        assert analysed() == ["c.py", "a.py"]
        assert codes() == ["DST414"]
        (project / "sub" / "a.py").unlink()
        assert analysed() == ["c.py"]
        assert codes() == []

    def test_a_test_of_the_rank_that_the_caller_imports(
        self, project: Path, analysed: Analysed
    ) -> None:
        caller = ON_ALL.format(module="c").replace("\nhelper", "\njoin()\nhelper")
        caller = caller.replace('dist.init_process_group("gloo")\n', "from b import join\n")
        joins = "import torch.distributed as dist\n\n\ndef join():\n    {}\n"
        write(project, {"a.py": caller, "b.py": joins.format("pass"), "c.py": SHARES})
        analysed()
        assert codes() == []
        write(project, {"b.py": joins.format('dist.init_process_group("gloo")')})
        assert "c.py" in analysed()
        assert codes() == ["DST414"]

    def test_requirements_that_a_rule_has_read(self, project: Path, analysed: Analysed) -> None:
        script = "import accelerate\n\naccelerator = accelerate.Accelerator()\n"
        write(project, {"a.py": f"{script}accelerator.check_breakpoint()\n", "b.py": script})
        write(project, {"requirements.txt": "accelerate>=1.0\n"})
        analysed()
        before = checked()
        write(project, {"requirements.txt": "torch\naccelerate>=1.0\n"})
        assert analysed() == []  # the answer is the same
        write(project, {"src/accelerate/__init__.py": "", "requirements.txt": ""})
        analysed()
        assert {f.code for f in before.findings} == {"DST107"}
        assert checked().findings == ()

    @pytest.mark.parametrize(
        ("file", "text", "concerned"),
        [
            ("jobs/ds.json", STEPS % 8, ["ds.json", "launch.sh"]),
            ("ds.json", STEPS % 4, ["ds.json"]),
            ("requirements.txt", "deepspeed==0.14.4\n", ["ds.json"]),
            ("jobs/reads.py", "own_key = config['own_key']\n", ["ds.json", "reads.py"]),
            ("jobs/notes.txt", "own_key", []),
        ],
    )
    def test_what_lies_beside_a_launch_file_or_a_configuration(
        self, project: Path, analysed: Analysed, file: str, text: str, concerned: list[str]
    ) -> None:
        write(project, {"jobs/launch.sh": LAUNCH, "jobs/ds.json": STEPS % 4})
        assert sorted(analysed()) == ["ds.json", "launch.sh"]
        assert analysed() == []
        assert [finding.code for finding in checked().findings] == ["DST801", "DST817"]
        write(project, {file: text})
        assert sorted(analysed()) == concerned
        assert analysed() == []


class TestSettings:
    def test_each_has_results_of_its_own(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        every = ["a.py", "b.py", "c.py", "d.py", "e.py"]
        for overrides in (
            {},
            {"layer": Layer(select=("DST2",))},
            {"preview": True},
            {"fail_on": Severity.INFO},
        ):
            assert analysed(**overrides) == every
            assert analysed(**overrides) == []
        assert analysed() == []

    def test_what_the_configuration_names(self, project: Path, analysed: Analysed) -> None:
        write(
            project,
            {
                "a.py": CALLER.format(module="own").replace("helper", "meet"),
                "distlint.toml": 'catalogue = ["own-calls.toml"]',
                "own-calls.toml": '[[collective]]\ncall = "own.meet"\nkind = "barrier"\n',
            },
        )
        assert analysed() == ["a.py"]
        assert len(checked().findings) == 1
        write(project, {"own-calls.toml": '[[collective]]\ncall = "own.other"\nkind = "barrier"\n'})
        assert analysed() == ["a.py"]
        assert checked().findings == ()

    def test_what_is_excluded_needs_no_new_analysis(
        self, project: Path, analysed: Analysed
    ) -> None:
        chain(project)
        analysed()
        assert analysed(extend_exclude=("d.py",)) == []

    def test_a_new_version_of_the_program(
        self, project: Path, analysed: Analysed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain(project)
        analysed()
        monkeypatch.setattr(cache_identity, "_program", lambda: "another")
        assert len(analysed()) == 5


class TestWhatIsNotKept:
    def test_a_crash(
        self, project: Path, analysed: Analysed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain(project)
        with monkeypatch.context() as patch:
            patch.setattr(Search, "found", lambda search, known: 1 / 0)
            assert checked().failed
        assert analysed() == ["a.py", "b.py", "c.py", "d.py", "e.py"]
        assert not checked().failed

    def test_what_rests_on_a_file_that_was_written_meanwhile(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain(project)
        found = Search.found

        def disturbed(search: Search, known: Found | None) -> Found:
            result = found(search, known)
            if search.document.path.name == "a.py":
                (project / "c.py").write_text(QUIET)
            return result

        with monkeypatch.context() as patch:
            patch.setattr(Search, "found", disturbed)
            assert len(checked().findings) == 1  # as it was when it was read
        assert checked().findings == ()

    def test_a_file_that_is_analysed_with_what_it_was_before(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(project, {"a.py": CALLER.format(module="b"), "b.py": MEETS})
        found = Search.found

        def disturbed(search: Search, known: Found | None) -> Found:
            result = found(search, known)
            if search.document.path.name == "a.py":  # b has been read, as something that a imports
                (project / "b.py").write_text(CALLER.format(module="c") + MEETS)
                write(project, {"c.py": MEETS})
            return result

        with monkeypatch.context() as patch:
            patch.setattr(Search, "found", disturbed)
            checked()
        assert checked() == checked(caching=False)


class TestTheFile:
    def store(self, project: Path) -> Path:
        (file,) = project.glob(f"{FOLDER}/*/*.cache")
        return file

    def content(self, project: Path) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = json.loads(
            self.store(project).read_text().partition("\n")[2]
        )
        return found

    @pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.9, 0.999])
    def test_a_truncated_one_is_ignored(
        self, project: Path, analysed: Analysed, share: float
    ) -> None:
        chain(project)
        analysed()
        data = self.store(project).read_bytes()
        self.store(project).write_bytes(data[: int(len(data) * share)])
        assert len(analysed()) == 5
        assert analysed() == []

    @pytest.mark.parametrize(
        "content",
        [
            b"\x80\x04\x95",
            b"[]",
            b"null",
            b"{}",
            b'{"identity": "?", "paths": [], "nodes": [], "files": {}}',
            b"[" * 100_000,
        ],
    )
    def test_one_of_somebody_else_is_ignored(
        self, project: Path, analysed: Analysed, content: bytes
    ) -> None:
        chain(project)
        analysed()
        self.store(project).write_bytes(content)
        assert len(analysed()) == 5
        assert analysed() == []

    @pytest.mark.campaign
    def test_a_damaged_one_is_ignored(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        analysed()
        data = self.store(project).read_bytes()
        for position in range(3, len(data), len(data) // 40):
            damaged = bytes([*data[:position], data[position] ^ 1, *data[position + 1 :]])
            self.store(project).write_bytes(damaged)
            assert len(analysed()) == 5
        assert analysed() == []

    def test_other_runs_do_not_lose_what_they_found(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two runs that have read the cache before either has written it."""
        chain(project)
        write(project, {"one/f.py": MEETS, "two/g.py": QUIET})
        save = cache.Cache.save
        waiting: list[cache.Cache] = []
        monkeypatch.setattr(cache.Cache, "save", lambda self: waiting.append(self))
        for folder in ("one", "two", "."):
            check_paths([Path(folder)], Resolver(), jobs=1, caching=True)
        monkeypatch.setattr(cache.Cache, "save", save)
        for each in waiting[::-1]:
            each.save()
        monkeypatch.setattr(Search, "found", lambda *_: pytest.fail("analysed again"))
        assert len(checked().findings) == 1

    def test_results_of_deleted_files_go(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        analysed()
        (project / "d.py").unlink()
        (project / "e.py").write_text(MEETS)
        analysed()
        content = self.content(project)
        assert sorted(Path(path).name for path in content["files"]) == [
            "a.py", "b.py", "c.py", "e.py",
        ]  # fmt: skip

    @pytest.mark.campaign
    def test_it_does_not_grow_with_every_edit(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        for n in range(30):
            (project / "c.py").write_text(f"{MEETS}\nx = {n}\n")
            analysed()
        content = self.content(project)
        assert len(content["nodes"]) <= 12

    def test_what_no_run_has_used_for_long_goes(
        self, project: Path, analysed: Analysed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain(project)
        analysed()
        analysed(preview=True)
        past = time.time() - 40 * 86_400
        for file in project.glob(f"{FOLDER}/*/*.cache"):
            os.utime(file, (past, past))
        assert analysed() == []
        self.store(project)  # the other one is gone
        assert len(analysed(preview=True)) == 5

    def test_where_it_cannot_be_there_is_none(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        (project / FOLDER).write_text("a file")
        assert len(analysed()) == 5
        assert len(analysed()) == 5
        assert (project / FOLDER).read_text() == "a file"

    def test_it_is_marked_for_git_and_backups(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        analysed()
        tag = (project / FOLDER / "CACHEDIR.TAG").read_text()
        assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
        assert "*" in (project / FOLDER / ".gitignore").read_text().splitlines()

    def test_a_folder_that_was_there_is_not_marked(self, project: Path, analysed: Analysed) -> None:
        chain(project)
        write(project, {"build/notes.txt": "mine"})
        analysed(cache_dir=project / "build")
        assert analysed(cache_dir=project / "build") == []
        assert sorted(os.listdir(project / "build"))[1:] == ["notes.txt"]


class TestInterrupted:
    def test_what_was_found_so_far_is_kept(
        self, project: Path, analysed: Analysed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chain(project)
        found = Search.found

        def interrupted(search: Search, known: Found | None) -> Found:
            if search.document.path.name == "c.py":
                raise KeyboardInterrupt
            return found(search, known)

        with monkeypatch.context() as patch:
            patch.setattr(Search, "found", interrupted)
            with pytest.raises(KeyboardInterrupt):
                checked()
        assert analysed() == ["c.py", "d.py", "e.py"]


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.campaign if n else ()) for n in range(12)]
)
def test_any_edits_give_what_a_fresh_run_gives(project: Path, seed: int) -> None:
    """Modules that import each other at random, written, broken, moved and deleted at random."""
    chance = random.Random(seed)
    names = [f"m{n}" for n in range(6)]
    texts = [
        *(CALLER.format(module=name) for name in names),
        *(PASSES_ON.format(module=name) for name in names),
        *(ON_ALL.format(module=name) for name in names),
        *(HANDS_ON.format(module=name) for name in names),
        MEETS,
        QUIET,
        SHARES,
        SHARES,
        "def helper(:\n",
    ]
    for step in range(12):
        for _ in range(chance.choice([1, 1, 2, 6]) if step else 12):
            folder = chance.choice([project, project, project / "sub"])
            path = folder / f"{chance.choice(names)}.py"
            if path.exists() and chance.random() < 0.3:
                path.unlink()
            else:
                write(folder, {path.name: chance.choice(texts)})
        jobs = 2 if step == 3 else 1
        assert checked(jobs=jobs) == checked(caching=False)
        assert checked() == checked(caching=False)
