"""The formats that other programs read, judged by the programs or models that define them."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml

from distlint.output import formats
from distlint.source.finding import Place, Severity, Span
from distlint.source.paths import STDIN
from distlint.source.report import Notice, Report, Reported, RuleText
from tests.output.conftest import SOURCE, report, reported
from tests.support import Lazy

sarif = Lazy("pydantic_sarif.model")

MACHINES = ("github", "gitlab", "json", "junit", "rdjson", "sarif")
STRANGE = "50% of `a<b>&\"'`\x00\x1b[31m\ud800: one,\r\ntwo \N{SNOWMAN}"


def written(name: str, report: Report, **page: object) -> str:
    stream = io.StringIO()
    formats.load(name).write(report, formats.Page(stream, **page))  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.fixture
def item(path: Path) -> Reported:
    path.write_text(SOURCE)
    (path.parent / ".git").mkdir()
    return reported(path)


def with_message(item: Reported, message: str) -> Reported:
    return replace(item, finding=replace(item.finding, message=message))


def moved(item: Reported, path: Path) -> Reported:
    finding = replace(item.finding, place=Place(path, item.finding.place.span), related=())
    return replace(item, finding=finding)


def graded(item: Reported, severity: Severity) -> Reported:
    return replace(item, finding=replace(item.finding, severity=severity))


def test_a_format_is_a_module() -> None:
    assert {*MACHINES, "concise", "full", "html"} <= set(formats.names())
    for name in formats.names():
        assert callable(formats.load(name).write)


@pytest.mark.parametrize("name", MACHINES)
def test_a_report_without_findings(name: str, path: Path) -> None:
    text = written(name, report())
    assert "DST" not in text
    assert (text == "") == (name == "github")


@pytest.mark.parametrize("name", [*MACHINES, "html"])
def test_an_ascii_terminal_takes_anything(name: str, item: Reported) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    formats.load(name).write(report(with_message(item, STRANGE)), formats.Page(stream))
    stream.flush()


class TestGithub:
    def test_an_annotation(self, item: Reported) -> None:
        path = item.finding.place.path
        assert written("github", report(item)) == (
            f"::error title=distlint (DST101 collective-in-rank-branch),file={path},line=4,"
            "endLine=4,col=4,endColumn=24::train.py:4:4: DST101 `all_reduce` on rank 0 only%0A"
            "rank 0 waits in all_reduce until the timeout%0A"
            "Call the collective on all ranks and keep only the use of its result under the "
            "test, or move it out of the branch.\n"
        )

    def test_every_severity_has_its_command(self, item: Reported) -> None:
        items = [graded(item, severity) for severity in Severity]
        lines = written("github", report(*items)).splitlines()
        assert [line.split(" ")[0] for line in lines] == ["::notice", "::warning", "::error"]

    def test_nothing_ends_the_command_early(self, item: Reported) -> None:
        path = item.finding.place.path.with_name("a,b:c%.py")
        (line,) = written("github", report(moved(with_message(item, "a\r\n%b"), path))).split("\n")[
            :-1
        ]
        assert "file=" + str(path.parent) + "/a%2Cb%3Ac%25.py,line=4" in line
        assert "DST101 a%0D%0A%25b%0A" in line

    def test_columns_only_within_a_line(self, item: Reported) -> None:
        place = Place(item.finding.place.path, Span(4, 4, 5, 9))
        item = replace(item, finding=replace(item.finding, place=place))
        assert "line=4,endLine=5::" in written("github", report(item))


class TestGitlab:
    def test_an_issue(self, item: Reported) -> None:
        (issue,) = json.loads(written("gitlab", report(item)))
        fingerprint = issue.pop("fingerprint")
        assert issue == {
            "check_name": "DST101",
            "description": "DST101 collective-in-rank-branch: `all_reduce` on rank 0 only",
            "location": {
                "path": "train.py",
                "positions": {
                    "begin": {"column": 4, "line": 4},
                    "end": {"column": 24, "line": 4},
                },
            },
            "severity": "critical",
        }
        assert len(fingerprint) == 32

    def test_the_path_starts_at_the_top_of_the_repository(
        self, item: Reported, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        below = item.finding.place.path.parent / "pkg" / "sub"
        below.mkdir(parents=True)
        monkeypatch.chdir(below)
        (issue,) = json.loads(written("gitlab", report(moved(item, below / "a.py"))))
        assert issue["location"]["path"] == "pkg/sub/a.py"

    def test_fingerprints_outlive_shifted_lines_and_differ(self, item: Reported) -> None:
        def marks(*items: Reported) -> list[str]:
            issues = json.loads(written("gitlab", report(*items)))
            return [issue["fingerprint"] for issue in issues]

        assert item.frame is not None
        path = item.finding.place.path
        lower = replace(
            item,
            finding=replace(item.finding, place=Place(path, Span(40, 4, 40, 24))),
            frame=replace(item.frame, first_row=38),
        )
        assert marks(item) == marks(lower)
        assert len(set(marks(item, lower))) == 2
        assert marks(item) != marks(moved(item, path.with_name("other.py")))


class TestJunit:
    def parsed(self, report: Report) -> JUnitXml:
        return JUnitXml.fromstring(written("junit", report).encode())

    def test_suites_and_cases(self, item: Reported) -> None:
        info = replace(graded(item, Severity.INFO), fails=False)
        clean = item.finding.place.path.with_name("clean.py")
        notices = (Notice("failed", "cannot be read", clean.with_name("gone.py")),)
        whole = report(item, info, notices=notices)
        xml = self.parsed(replace(whole, files=(clean, item.finding.place.path)))
        assert (xml.tests, xml.failures, xml.errors) == (4, 1, 1)
        suites = {suite.name: list(suite) for suite in xml}
        assert [case.name for case in suites["clean.py"]] == ["no findings"]
        failing, passing = suites["train.py"]
        (failure,) = failing.result
        assert isinstance(failure, Failure)
        assert failure.message == "`all_reduce` on rank 0 only"
        assert failure.text.startswith("train.py:4: `all_reduce` on rank 0 only\nrank 0 waits")
        assert failing.name == "DST101 collective-in-rank-branch (line 4, column 4)"
        assert passing.is_passed
        assert "rank 0 waits" in passing.system_out
        (broken,) = suites["distlint"]
        assert isinstance(broken.result[0], Error)

    def test_what_xml_cannot_hold(self, item: Reported) -> None:
        xml = self.parsed(report(with_message(item, STRANGE)))
        (case,) = next(iter(xml))
        assert "\N{SNOWMAN}" in case.result[0].message
        assert "\\x00" in case.result[0].message
        assert "a<b>&\"'" in case.result[0].message


class TestRdjson:
    def test_a_diagnostic(self, item: Reported) -> None:
        document = json.loads(written("rdjson", report(item)))
        assert document["source"] == {"name": "distlint"}
        (found,) = document["diagnostics"]
        assert found["severity"] == "ERROR"
        assert found["code"] == {"value": "DST101"}
        assert found["location"] == {
            "path": str(item.finding.place.path),
            "range": {"end": {"column": 24, "line": 4}, "start": {"column": 4, "line": 4}},
        }
        assert found["suggestions"] == [
            {
                "range": {"end": {"column": 1, "line": 6}, "start": {"column": 1, "line": 5}},
                "text": "x\n",
            }
        ]
        assert [each["message"] for each in found["relatedLocations"]] == [
            "all_reduce on rank 0",
            "written on some ranks only",
        ]

    def test_columns_count_bytes(self, item: Reported) -> None:
        item.finding.place.path.with_name("wide.py").write_text("\n\n\n模型 = barrier()\n")
        wide = moved(item, item.finding.place.path.with_name("wide.py"))
        (found,) = json.loads(written("rdjson", report(wide)))["diagnostics"]
        assert found["location"]["range"]["start"]["column"] == 8


class TestSarif:
    def parsed(self, report: Report, **page: object) -> dict[str, object]:
        text = written("sarif", report, **page)
        sarif.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(text)
        run: dict[str, object] = json.loads(text)["runs"][0]
        return run

    def explained(self, code: str) -> RuleText:
        return RuleText(code, "a-name", "What it finds.", "What it finds.\n\nWhy.")

    def test_a_thread_for_each_group_of_ranks(self, item: Reported) -> None:
        run = self.parsed(report(item), explain=self.explained)
        (result,) = run["results"]  # type: ignore[misc]
        (flow,) = result["codeFlows"]
        first, second = flow["threadFlows"]
        assert (first["id"], second["id"]) == ("rank 0", "ranks 1-3")

        def told(thread: dict[str, object]) -> list[tuple[str, str, int]]:
            locations = [each["location"] for each in thread["locations"]]  # type: ignore[attr-defined]
            return [
                (
                    each["message"]["text"],
                    each["physicalLocation"]["artifactLocation"]["uri"],
                    each["physicalLocation"]["region"]["startLine"],
                )
                for each in locations
            ]

        common = [
            ("all ranks: init: dist.init_process_group()", "train.py", 3),
            ("dist.get_rank() == 0 (true on rank 0, false on the other ranks)", "train.py", 4),
        ]
        assert told(first) == [
            *common,
            ("all_reduce: dist.all_reduce(loss)", "train.py", 5),
        ]
        assert told(second) == [*common, ("barrier: dist.barrier()", "utils.py", 12)]

    def test_the_rest(self, item: Reported) -> None:
        notices = (Notice("skipped", "too large", item.finding.place.path),)
        run = self.parsed(report(item, item, notices=notices), explain=self.explained)
        (rule,) = run["tool"]["driver"]["rules"]  # type: ignore[index]
        assert (rule["id"], rule["name"]) == ("DST101", "a-name")
        assert rule["help"]["markdown"] == "What it finds.\n\nWhy."
        first, second = run["results"]  # type: ignore[misc]
        assert first["level"] == "error"
        assert first["partialFingerprints"] != second["partialFingerprints"]
        (change,) = first["fixes"][0]["artifactChanges"]
        assert change["replacements"][0]["insertedContent"] == {"text": "x\n"}
        (invocation,) = run["invocations"]  # type: ignore[misc]
        assert invocation["executionSuccessful"] is True

    def test_a_rule_that_nothing_is_known_of(self, item: Reported) -> None:
        run = self.parsed(report(item))
        assert run["tool"]["driver"]["rules"][0]["id"] == "DST101"  # type: ignore[index]

    def test_a_run_that_failed(self, path: Path) -> None:
        run = self.parsed(report(notices=(Notice("failed", "internal error"),)))
        assert run["invocations"][0]["executionSuccessful"] is False  # type: ignore[index]

    @pytest.mark.parametrize("name", ["two words.py", "50%.py", "模.py", "-"])
    def test_names_of_files(self, item: Reported, name: str) -> None:
        path = STDIN if name == "-" else item.finding.place.path.with_name(name)
        self.parsed(report(moved(item, path), with_message(item, STRANGE.replace("\ud800", ""))))
