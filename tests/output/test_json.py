"""The JSON contract."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from distlint.output.formats.json import render
from distlint.source.finding import Place
from distlint.source.paths import STDIN
from tests.output.conftest import reported


def test_every_key(path: Path) -> None:
    assert json.loads(render([reported(path)])) == [
        {
            "cell": None,
            "code": "DST101",
            "confirmation": None,
            "end_location": {"column": 24, "row": 4},
            "filename": str(path),
            "fix": {
                "applicability": "unsafe",
                "edits": [
                    {
                        "content": "x\n",
                        "end_location": {"column": 1, "row": 6},
                        "location": {"column": 1, "row": 5},
                    }
                ],
                "message": "Hoist the call",
            },
            "location": {"column": 4, "row": 4},
            "message": "`all_reduce` on rank 0 only",
            "name": "collective-in-rank-branch",
            "noqa_row": 4,
            "related": [
                {
                    "filename": str(path),
                    "location": {"column": 1, "row": 5},
                    "message": "all_reduce on rank 0",
                },
                {
                    "filename": str(path),
                    "location": {"column": 1, "row": 1},
                    "message": "written on some ranks only",
                },
            ],
            "severity": "error",
            "url": None,
        }
    ]


def test_nothing_found_is_an_empty_array() -> None:
    assert render([]) == "[]"


def test_file_names_that_are_no_text(path: Path) -> None:
    item = reported(path)

    def name_of(named: Path) -> str:
        finding = replace(item.finding, place=Place(named, item.finding.place.span))
        name: str = json.loads(render([replace(item, finding=finding)]))[0]["filename"]
        return name

    assert name_of(path.with_name("two\nlines.py")).endswith("/two\nlines.py")
    assert name_of(path.with_name("模.py")).endswith("/模.py")
    assert name_of(path.with_name(os.fsdecode(b"caf\xe9.py"))).endswith("/caf\\xe9.py")
    assert name_of(STDIN) == "-"
