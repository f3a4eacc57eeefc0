"""A report survives being written and read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from distlint.source.exchange import dumps, loads
from distlint.source.report import Notice, Undecided
from tests.output.conftest import report, reported


def test_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    item = reported(path)
    keys = frozenset({(path, 4, 2), (path.with_name("b.py"), 1, 1)})
    whole = replace(
        report(
            item,
            replace(item, frame=None, noqa_row=None, proposed=("@@ -1 +1 @@", "-a\n", "+b")),
            replace(item, finding=replace(item.finding, explanation=None, fix=None)),
            notices=(Notice("failed", "why", path, "detail"), Notice("nothing", "what")),
        ),
        files=(path, Path("/elsewhere/a.py"), Path("-")),
        undecided=(Undecided(item, keys),),
        used=keys,
        tolerated=3,
    )
    text = dumps(whole, tmp_path)
    assert loads(text, tmp_path) == whole
    assert str(tmp_path) not in text
    moved = loads(text, Path("/other"))
    assert moved.files == (Path("/other/train.py"), Path("/elsewhere/a.py"), Path("-"))
