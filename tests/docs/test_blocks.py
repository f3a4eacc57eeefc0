"""Every code block in the documentation is run or checked; where it is not, it says why."""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest
import yaml

import distlint.runtime
from distlint.catalogue.catalogue import Catalogue
from distlint.cli import COMMANDS
from distlint.engine.keys import KEYS, schema
from tests.docs.blocks import (
    REASONS,
    Block,
    Step,
    blocks,
    every_block,
    folder_for,
    pages,
    shell,
    steps,
)
from tests.support import ROOT, about_hangs, findings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LANGUAGES = ("console", "python", "toml", "yaml", "json", "text", "lua", "elisp", "")
"""Those that something below knows how to check; text, or none, is what programs print."""


FINDS = ("check", "fix", "trace", "merge", "diagnose", "doctor")
"""Commands that end with 1 when there are findings."""


def of(*languages: str) -> list[Block]:
    return [block for block in every_block() if block.language in languages]


def test_every_block_has_a_language_that_is_checked() -> None:
    assert [str(block) for block in every_block() if block.language not in LANGUAGES] == []


def test_every_reason_is_a_known_one() -> None:
    said = {step.reason for block in of("console") for step in steps(block)} - {None}
    assert said <= set(REASONS)
    assert said == set(REASONS), "a reason that nothing gives any more"


@pytest.mark.campaign
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    """In the order of the page, in one folder; with the output where the page shows it."""
    folder = folder_for(page, tmp_path / "repository")
    for block in of("console"):
        for step in steps(block) if block.page == page else ():
            if step.reason is None:
                _run(step, folder)


def _run(step: Step, folder: Path) -> None:
    words = step.command.split()
    assert "pip" not in words, f"{step} installs, and does not say so"
    if words[:2] == ["python", "-m"] and step.output is None:  # in a clone of the repository
        _check_module(words[2:])
        return
    finished = shell(step.command, folder)
    if step.output is None:
        good = (0, 1) if words[1:2] and words[1] in FINDS else (0,)
        assert finished.returncode in good, f"{step}\n{finished.stdout}{finished.stderr}"
    else:
        whole = f"{finished.stdout}{finished.stderr}"
        printed = [_trimmed(text) for text in (finished.stdout, finished.stderr, whole)]
        assert _trimmed(step.output) in printed, f"{step}\n{whole}"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def _check_module(words: list[str]) -> None:
    """A script or benchmark that takes long: it is there, and so are the files that it is given."""
    module, *arguments = words
    assert find_spec(module) is not None, module
    for word in arguments:
        if word.startswith(("tests/", "docs/", "examples/")):
            assert (ROOT / word).exists(), word


def test_there_are_outputs_to_compare() -> None:
    shown = [step for block in of("console") for step in steps(block) if step.output is not None]
    assert len(shown) >= 8


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_a_block_of_python_compiles_and_knows_the_runtime(block: Block) -> None:
    tree = ast.parse(block.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("distlint"):
            module = import_module(node.module or "")
            offered = {*getattr(module, "__all__", ()), *vars(module), *dir(module)}
            assert {alias.name for alias in node.names} <= offered


@pytest.mark.parametrize("block", of("toml"), ids=str)
def test_a_block_of_toml_is_what_its_reader_takes(block: Block, tmp_path: Path) -> None:
    content = tomllib.loads(block.text)
    ours = content.get("tool", {}).get("distlint")
    if ours is None and not content.keys().isdisjoint({key.name for key in KEYS}):
        ours = content
    if ours is not None:
        jsonschema.validate(ours, schema())
    elif "modules" in content:
        file = tmp_path / "own.toml"
        file.write_text(block.text)
        Catalogue.load((), (file,))
    elif "signature" in content:
        files = (ROOT / "distlint" / "diagnose" / "signatures").glob("*.toml")
        known = {
            key
            for file in files
            for each in tomllib.loads(file.read_text("utf-8"))["signature"]
            for key in each
        }
        assert {key for each in content["signature"] for key in each} <= known
    else:
        assert content.keys() <= {"project", "language-server", "language"}, "for whom is it?"


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_a_block_of_yaml_is_for_pre_commit_or_a_workflow_to_copy(block: Block) -> None:
    content = yaml.safe_load(block.text)
    if "jobs" in content:
        workflow = (ROOT / "docs" / "ci" / "github.yml").read_text("utf-8")
        assert block.text == re.sub(r"distlint@v[\d.]+", "distlint@VERSION", workflow)
        return
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    for repository in content["repos"]:
        assert {hook["id"] for hook in repository["hooks"]} <= hooks


@pytest.mark.parametrize("block", of("json"), ids=str)
def test_a_block_of_json_is_some(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", of("lua"), ids=str)
def test_a_block_of_lua_compiles(block: Block, tmp_path: Path) -> None:
    neovim = shutil.which("nvim")
    if neovim is None:
        pytest.skip("Neovim is not installed")
    file = tmp_path / "init.lua"
    file.write_text(block.text)
    check = f"lua local ok, why = loadfile({str(file)!r}); if not ok then error(why) end"
    finished = subprocess.run(
        [neovim, "--headless", "-u", "NONE", "-c", check, "-c", "qa!"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.stderr.strip() == ""


@pytest.mark.parametrize("block", of("elisp"), ids=str)
def test_a_block_of_elisp_is_balanced(block: Block) -> None:
    code = re.sub(r'"[^"]*"', "", block.text)
    assert code.count("(") == code.count(")") > 0


@lru_cache
def options_of(command: str) -> frozenset[str]:
    parser: argparse.ArgumentParser = import_module(
        f"distlint.cli.{command.replace('-', '_')}"
    ).parser()
    return frozenset(parser._option_string_actions)


def mentions(page: Path) -> list[tuple[str, ...]]:
    """What stands in the text as `distlint COMMAND ...`."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`distlint ([^`]+)`", text)
    return [tuple(span.split()) for span in spans]


@pytest.mark.parametrize(
    "page", [*pages(), *sorted((ROOT / "docs" / "rules").glob("*.md"))], ids=lambda page: page.name
)
def test_commands_and_options_in_the_text_exist(page: Path) -> None:
    for command, *words in mentions(page):
        if command in ("COMMAND", "--help", "--version"):
            continue
        assert command in COMMANDS, f"distlint {command}"
        if command == "run":  # what follows the script is for the script
            continue
        for word in words:
            if word.startswith("--") and word != "--":
                assert word.split("=")[0] in {*options_of(command), "--help"}, f"{command} {word}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_modules_and_files_in_the_text_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    for module in re.findall(r"`python -m ([\w.]+)", text):
        assert find_spec(module) is not None, module
    for file in re.findall(
        r"`(?:pytest |python -m pytest )?((?:tests|benchmarks|docs|scripts)/[\w/.-]+)`", text
    ):
        assert (ROOT / file).exists(), file
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_a_block_of_python_does_not_hang(block: Block) -> None:
    """But for a script that is shown because it does."""
    if block.title is None:
        assert about_hangs(findings(block.text)) == []


def test_the_worked_example_of_a_catalogue_does_what_is_said_of_it(tmp_path: Path) -> None:
    """In files that mention nothing but the package: no torch, no other framework."""
    page = ROOT / "docs" / "catalogue.md"
    (script,) = [block.text for block in blocks(page) if block.language == "python"]
    (own,) = [block.text for block in blocks(page) if block.language == "toml"]
    guarded = "if world.is_head:\n    world.any(1)\n"
    files = {
        "own.toml": own,
        "distlint.toml": 'catalogue = ["own.toml"]\n',
        "hangs.py": script + guarded,
        "helper.py": "from mycluster import dist\n\n\ndef agree(world):\n    return world.any(1)\n",
        "calls.py": script + "from helper import agree\n\nif world.is_head:\n    agree(world)\n",
        "agrees.py": script + "while True:\n    world.any(1)\n    if stop:\n        break\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    finished = shell("distlint check --output-format json", tmp_path)
    found = [(Path(each["filename"]).name, each["code"]) for each in json.loads(finished.stdout)]
    assert found == [("calls.py", "DST101"), ("hangs.py", "DST101")]


def test_the_names_in_the_page_about_the_runtime_are_there() -> None:
    text = (ROOT / "docs" / "runtime.md").read_text("utf-8")
    columns = re.findall(r"^\| name \|.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    firsts = [row.split("|")[1] for column in columns for row in column.splitlines()[2:]]
    names = {name for first in firsts for name in re.findall(r"`(\w+)", first)}
    assert len(names) > 20
    assert names <= set(dir(distlint.runtime))


def test_the_rule_of_ones_own_passes_a_strict_type_checker(tmp_path: Path) -> None:
    """So what ``distlint.rules.api`` promises is typed throughout."""
    mypy = pytest.importorskip("mypy.api")
    page = ROOT / "docs" / "own-rules.md"
    (rule,) = [each.text for each in blocks(page) if each.title == "tools/lab_rules.py"]
    file = tmp_path / "lab_rules.py"
    file.write_text(rule)
    output, errors, status = mypy.run(
        ["--strict", "--config-file=", "--follow-imports=silent", str(file)]
    )
    assert status == 0, output + errors
