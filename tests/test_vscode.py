"""The extension for VS Code says the same as the server that it starts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from distlint.server.options import KEYS

FOLDER = Path(__file__).parents[1] / "editors" / "vscode"
OF_THE_CLIENT = {"enable", "path", "interpreter", "trace.server"}


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


@pytest.mark.skipif(
    not os.environ.get("DISTLINT_TEST_CODE_SERVER"), reason="takes code-server, Node and npm"
)
def test_it_works_in_vs_code() -> None:
    """Findings, fixes, notebooks, and that the server follows the environment that is selected."""
    program = os.environ["DISTLINT_TEST_CODE_SERVER"]
    arguments = ["--code-server", program, "--python", sys.executable]
    subprocess.run(["npm", "run", "package"], cwd=FOLDER, check=True)
    subprocess.run(["npm", "run", "try", "--", *arguments], cwd=FOLDER, check=True, timeout=600)
