"""``distlint trace``: the target, the ranks, the exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from distlint import cli
from distlint.analyzer.project.project import Project
from distlint.analyzer.symbolic import trace as analysis
from distlint.source.document import Document
from distlint.source.finding import Place, Span, Step
from distlint.source.trace import Trace

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """A file ``train.py`` whose ``stop`` parts the ranks; collects what was asked for."""
    (project / "train.py").write_text("barrier()\n")
    calls: list[tuple[object, ...]] = []

    def trace(
        document: Document, project: Project, function: str | None, ranks: Sequence[int] | None
    ) -> list[Trace]:
        calls.append((document.path.name, function, ranks))
        if function == "nothing":
            raise LookupError("no function `nothing`")
        step = Step("barrier()", Place(document.path, Span(1, 1, 1, 8)))
        found = Trace(document.path, function, ("every rank",), ((step,),), None)
        return [replace(found, divergence=0) if function == "stop" else found]

    monkeypatch.setattr(analysis, "trace", trace)
    return calls


def test_a_file_and_a_function(asked: list[tuple[object, ...]], capsys: Captured) -> None:
    assert cli.main(["trace", "train.py"]) == 0
    assert cli.main(["trace", "train.py::stop", "--ranks", "0,1,0"]) == 1
    assert asked == [("train.py", None, None), ("train.py", "stop", (0, 1))]
    output = capsys.readouterr().out
    assert "train.py: all ranks issue the same collectives" in output
    assert "train.py::stop: ranks diverge" in output


def test_json(asked: list[tuple[object, ...]], capsys: Captured) -> None:
    assert cli.main(["trace", "train.py", "--output-format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["aligned"] is True
    assert found["rows"][0][0]["text"] == "barrier()"


def test_a_page(asked: list[tuple[object, ...]], capsys: Captured) -> None:
    assert cli.main(["trace", "train.py::stop", "--output-format", "html", "-o", "t.html"]) == 1
    assert capsys.readouterr().out == ""
    page = Path("t.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "divergence" in page
    assert cli.main(["trace", "train.py", "-o", "train.py/t.html"]) == 2  # that is no folder


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("missing.py", "distlint: missing.py: no such file or directory\n"),
        ("train.py::nothing", "distlint: train.py: no function `nothing`\n"),
        ("train.py::", "distlint: `train.py::` is not in the form FILE::FUNCTION\n"),
        ("bad.py", "distlint: bad.py:1:1: byte 0xff is not valid UTF-8\n"),
        (".", "distlint: .: is a directory\n"),
    ],
)
def test_mistakes(
    asked: list[tuple[object, ...]], capsys: Captured, target: str, message: str
) -> None:
    Path("bad.py").write_bytes(b"\xff")
    assert cli.main(["trace", target]) == 2
    assert capsys.readouterr().err == message


def test_ranks_that_are_none(asked: list[tuple[object, ...]], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["trace", "train.py", "--ranks", "first"])
    assert caught.value.code == 2
    assert "invalid list of ranks (expected, for example, 0,1): first" in capsys.readouterr().err
