"""Rules of the user's own: loaded where a configuration names them, and treated like all others."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import ModuleType

import pytest

from distlint.engine.errors import ConfigError
from distlint.engine.fix import repair
from distlint.engine.run import check_paths, check_stdin
from distlint.engine.settings import Overrides, Resolver
from distlint.source.report import Report
from tests.engine.conftest import write
from tests.engine.own_rule import CONFIG, FILE, SCRIPT, changed


def run(jobs: int | None = None, overrides: Overrides | None = None) -> Report:
    return check_paths([Path()], resolver(overrides), jobs=jobs)


def resolver(overrides: Overrides | None = None) -> Resolver:
    return Resolver(replace(overrides or Overrides(), runs_rules=True))


def told(report: Report) -> list[str]:
    return [f"{f.code} {f.place.path.name}:{f.place.span.row}" for f in report.findings]


@pytest.fixture
def lab(project: Path) -> Path:
    """A project with a rule of its own and a script that it speaks about."""
    write(project, {"tools/lab.py": FILE, "distlint.toml": CONFIG, "train.py": SCRIPT})
    return project


def refused(rule_file: str, config: str = CONFIG) -> str:
    write(Path.cwd(), {"tools/lab.py": rule_file, "distlint.toml": config, "a.py": ""})
    with pytest.raises(ConfigError) as caught:
        run()
    return str(caught.value)


class TestUse:
    def test_a_rule_of_a_file_is_asked(self, lab: Path) -> None:
        (finding,) = run().findings
        assert (finding.code, finding.name) == ("LAB001", "group-without-timeout")
        assert finding.place.span.row == 3

    def test_workers_ask_it_too(self, lab: Path) -> None:
        write(lab, {f"s{number}.py": SCRIPT for number in range(6)})
        assert told(run(jobs=2)) == told(run(jobs=1))
        assert len(run(jobs=2).findings) == 7

    def test_it_is_switched_off_like_any_other(self, lab: Path) -> None:
        write(lab, {"distlint.toml": f'{CONFIG}ignore = ["group-without-timeout"]'})
        assert told(run()) == []
        write(lab, {"distlint.toml": f'{CONFIG}select = ["DST"]'})
        assert told(run()) == []
        write(lab, {"distlint.toml": f'{CONFIG}select = ["LAB"]\nseverity = {{LAB001 = "info"}}'})
        (finding,) = run().findings
        assert finding.severity.value == "info"
        write(lab, {"distlint.toml": f'{CONFIG}per-file-ignores = {{"train.py" = ["LAB001"]}}'})
        assert told(run()) == []

    @pytest.mark.parametrize("what", ["ignore[LAB001]", "ignore[group-without-timeout]"])
    def test_comments_suppress_it(self, lab: Path, what: str) -> None:
        write(lab, {"train.py": SCRIPT.rstrip() + f"  # distlint: {what} -- why not\n"})
        assert told(run()) == []
        write(lab, {"train.py": f"import torch.distributed as dist  # distlint: {what}\n"})
        assert told(run()) == ["DST001 train.py:1"]

    def test_noqa_suppresses_it(self, lab: Path) -> None:
        write(lab, {"train.py": SCRIPT.rstrip() + "  # noqa: LAB001\n"})
        assert told(run()) == []

    def test_a_rule_in_preview_is_off_unless_asked_for(self, lab: Path) -> None:
        write(
            lab, {"tools/lab.py": changed(('    words = ("', '    preview = True\n    words = ("'))}
        )
        assert told(run()) == []
        assert "LAB001 train.py:3" in told(run(overrides=Overrides(preview=True)))

    def test_its_fixes_are_proven_and_applied(self, lab: Path) -> None:
        found = resolver()
        report = check_paths([Path()], found)
        repair(report, found, unsafe=False, write=True)
        text = (lab / "train.py").read_text()
        assert "from datetime import timedelta\n" in text
        assert 'start("gloo", timeout=timedelta(minutes=5))' in text
        assert told(run()) == []

    def test_a_file_without_distributed_words_is_shown_to_it(self, lab: Path) -> None:
        """Unless the rule itself says which words a file has to hold."""
        other = changed(('"torch.distributed.init_process_group"', '"json.dumps"'))
        write(lab, {"tools/lab.py": other, "train.py": "import json\njson.dumps(1)\n"})
        assert told(run()) == []
        write(lab, {"tools/lab.py": other.replace('    words = ("init_process_group",)\n', "")})
        assert told(run()) == ["LAB001 train.py:2"]

    def test_standard_input_is_checked_by_it(self, lab: Path) -> None:
        report = check_stdin(SCRIPT.encode(), Path("x.py"), resolver())
        assert told(report) == ["LAB001 x.py:3"]

    def test_it_holds_below_the_configuration_that_names_it(self, lab: Path) -> None:
        write(lab, {"sub/distlint.toml": "", "sub/train.py": SCRIPT})
        assert told(run()) == ["LAB001 train.py:3"]
        assert run().findings[0].place.path == lab / "train.py"

    def test_a_configuration_that_is_extended_brings_its_rules_along(self, lab: Path) -> None:
        write(lab, {"sub/distlint.toml": 'extend = "../distlint.toml"', "sub/train.py": SCRIPT})
        assert told(run()) == ["LAB001 train.py:3", "LAB001 train.py:3"]

    def test_two_projects_may_use_one_code(self, lab: Path) -> None:
        quiet = changed((".absent:", ".absent and False:"))
        files = {"tools/lab.py": quiet, "distlint.toml": CONFIG, "train.py": SCRIPT}
        write(lab / "other", files)
        assert [f.place.path for f in run().findings] == [lab / "train.py"]

    def test_a_changed_file_is_read_anew(self, lab: Path) -> None:
        assert told(run()) == ["LAB001 train.py:3"]
        write(lab, {"tools/lab.py": FILE.replace("LAB001", "LAB0022")})
        assert told(run()) == ["LAB0022 train.py:3"]


WITNESS_RULE = '''\
from distlint.rules.api import Example, Witness, WitnessRule


class Ours(WitnessRule):
    """Ours."""

    code, name = "LAB002", "our-hang"
    good = (Example(title="g", code="x = 1\\n"),)
    bad = (Example(title="b", code="x  # expect: LAB002\\n"),)

    def claims(self, witness: Witness) -> bool:
        return True

    def message(self, witness: Witness) -> str:
        return "ask the cluster team"

    def help(self, witness: Witness) -> str:
        return "Ask."
'''
HANG = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.all_reduce(torch.ones(1))
"""


class TestWitnesses:
    def test_a_rule_of_ones_own_is_asked_first(self, project: Path) -> None:
        write(project, {"tools/lab.py": WITNESS_RULE, "distlint.toml": CONFIG, "a.py": HANG})
        assert told(run()) == ["LAB002 a.py:5"]

    def test_switched_off_it_hides_no_hang(self, project: Path) -> None:
        config = f'{CONFIG}ignore = ["LAB002"]'
        write(project, {"tools/lab.py": WITNESS_RULE, "distlint.toml": config, "a.py": HANG})
        assert told(run()) == ["DST101 a.py:5"]

    def test_when_it_raises_the_next_one_is_asked(self, project: Path) -> None:
        broken = WITNESS_RULE.replace("return True", "return witness.nothing")
        write(project, {"tools/lab.py": broken, "distlint.toml": CONFIG, "a.py": HANG})
        report = run()
        assert told(report) == ["DST101 a.py:5"]
        assert report.failed


class TestMistakes:
    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            ('"LAB001"', '"DST101"', "codes that begin with DST are reserved for distlint"),
            ('"LAB001"', '"lab-1"', "'lab-1': a code has capital letters and three or four digits"),
            ('"LAB001"', '"L1"', "'L1': a code has"),
            ('"LAB001"', "7", "7: a code has"),
            (
                "group-without-timeout",
                "unsynced-break",
                "distlint has a rule with the name unsynced-break",
            ),
            (
                "group-without-timeout",
                "Group Timeout",
                "a name has lower-case words separated by hyphens",
            ),
            ('name = "group-without-timeout"', "", "lacks a name"),
            ("# expect: LAB001", "", "'The default' marks no line"),
            ("class GroupWithoutTimeout(ScriptRule)", "class G(Script)", "contains no rule"),
            ("from dataclasses", "from nowhere", "lab.py:4: ModuleNotFoundError: No module named"),
            ("@dataclass\n", "1 / 0\n", "lab.py:9: ZeroDivisionError: division by zero"),
            ("@dataclass\n", "raise SystemExit(0)\n", "lab.py:9: SystemExit: 0"),
            ("@dataclass\n", "if :\n", "lab.py:9: SyntaxError: invalid syntax"),
        ],
    )
    def test_it_is_named_with_its_file(
        self, project: Path, before: str, after: str, message: str
    ) -> None:
        error = refused(changed((before, after)))
        assert error.startswith("distlint.toml: `rules`: tools/lab.py:")
        assert message in error

    def test_a_rule_that_cannot_be_made(self, project: Path) -> None:
        error = refused(FILE + "\n    def __init__(self, more):\n        pass\n")
        assert "LAB001: GroupWithoutTimeout() raises TypeError" in error

    def test_two_rules_of_one_code(self, project: Path) -> None:
        write(project, {"tools/more.py": FILE})
        config = 'rules = ["tools/lab.py", "tools/more.py"]'
        assert "tools/more.py: two rules have the code LAB001" in refused(FILE, config)

    def test_a_file_of_another_project_is_not_run(self, project: Path) -> None:
        write(
            project, {"lab.py": "open('ran', 'w')", "mine/distlint.toml": 'rules = ["../lab.py"]'}
        )
        write(project, {"mine/train.py": ""})
        with pytest.raises(ConfigError, match=r"mine/distlint.toml: `rules`: lab.py is outside"):
            run()
        assert not (project / "ran").exists()

    def test_a_rule_that_raises_is_named_and_the_run_goes_on(self, project: Path) -> None:
        broken = changed(("if call.argument", "if call.nothing or call.argument"))
        write(project, {"tools/lab.py": broken, "distlint.toml": CONFIG})
        write(project, {"a.py": SCRIPT, "hang.py": HANG})
        report = run()
        assert told(report) == ["DST101 hang.py:5"]
        assert report.failed
        (first, second) = report.notices
        assert first.path == project / "a.py"
        assert second.path == project / "hang.py"
        assert first.message == (
            "the rule LAB001 (group-without-timeout) raised AttributeError: 'Call' object has no "
            "attribute 'nothing' at tools/lab.py:53"
        )
        assert "Traceback" in first.detail

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("yield self.report", "yield None and self.report"),
            (
                "def findings(self,",
                "def findings(self, _):\n        return 7\n\n    def other(self,",
            ),
        ],
    )
    def test_a_rule_that_gives_no_findings(self, project: Path, before: str, after: str) -> None:
        write(
            project,
            {"tools/lab.py": changed((before, after)), "distlint.toml": CONFIG, "a.py": SCRIPT},
        )
        report = run()
        assert (
            "the rule LAB001 (group-without-timeout) raised TypeError" in report.notices[0].message
        )

    def test_a_comment_is_not_useless_because_its_rule_raised(self, project: Path) -> None:
        broken = changed(("if call.argument", "if call.nothing or call.argument"))
        script = SCRIPT.rstrip() + "  # distlint: ignore[LAB001]\n"
        write(project, {"tools/lab.py": broken, "distlint.toml": CONFIG, "a.py": script})
        assert told(run()) == []

    def test_a_fix_is_not_proven_by_a_rule_that_raises_at_it(self, project: Path) -> None:
        broken = changed(
            (
                "if call.argument",
                "assert 'timedelta' not in script.text\n            if call.argument",
            )
        )
        write(project, {"tools/lab.py": broken, "distlint.toml": CONFIG, "a.py": SCRIPT})
        found = resolver()
        report = check_paths([Path()], found)
        repairs = repair(report, found, unsafe=True, write=True)
        assert (project / "a.py").read_text() == SCRIPT
        assert "could not be fully analysed" in repairs.notices[0].message


class TestPackages:
    @pytest.fixture
    def installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A package that offers the rule under the entry point `lab`, and one that is broken."""
        module = ModuleType("lab_package")
        monkeypatch.setitem(__import__("sys").modules, "lab_package", module)
        exec(compile(FILE, "lab_package.py", "exec"), vars(module))
        points = EntryPoints(
            [
                EntryPoint("lab", "lab_package", "distlint.rules"),
                EntryPoint("one", "lab_package:GroupWithoutTimeout", "distlint.rules"),
                EntryPoint("broken", "no_such_module", "distlint.rules"),
            ]
        )
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)

    @pytest.mark.parametrize("name", ["lab", "one"])
    def test_its_rules_are_asked_where_the_configuration_names_it(
        self, project: Path, installed: None, name: str
    ) -> None:
        write(project, {"train.py": SCRIPT})
        assert told(run()) == []
        write(project, {"distlint.toml": f'rules = ["{name}"]\nselect = ["LAB"]'})
        assert told(run()) == ["LAB001 train.py:3"]

    def test_a_name_that_no_package_offers(self, project: Path, installed: None) -> None:
        error = refused(FILE, 'rules = ["labb"]')
        assert "no installed package offers rules as `labb`; available: broken, lab, one" in error
        assert "entry point `broken`: ModuleNotFoundError" in refused(FILE, 'rules = ["broken"]')
