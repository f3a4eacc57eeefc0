"""The extension for VS Code says the same as the server that it starts."""

from __future__ import annotations

import json
import re
from pathlib import Path

from distlint import __version__
from distlint.server.options import KEYS

FOLDER = Path(__file__).parents[1] / "editors" / "vscode"
OF_THE_CLIENT = {"enable", "path", "interpreter", "trace.server"}


def test_the_version_is_that_of_distlint() -> None:
    for name in ("package.json", "package-lock.json"):
        assert json.loads((FOLDER / name).read_text())["version"] == __version__


def test_every_setting_of_the_server_can_be_set_and_no_other_reaches_it() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text())
    declared = {
        name.removeprefix("distlint.")
        for name in manifest["contributes"]["configuration"]["properties"]
    }
    assert declared - OF_THE_CLIENT == set(KEYS)
    source = (FOLDER / "src" / "extension.ts").read_text()
    passed = re.search(r"const SETTINGS = \[(.*?)\]", source, re.DOTALL)
    assert passed is not None
    assert set(re.findall(r'"(\w+)"', passed[1])) == set(KEYS)
