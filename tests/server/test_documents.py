"""Configurations and launch files in an editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_documents import ACCELERATE, CONFIG, LAUNCH
from tests.server.client import Editor, edited
from tests.server.test_server import BUGGY, codes, quick_fix

LINE = "deepspeed --num_gpus 4 train.py --deepspeed ds.json --gradient_accumulation_steps 8\n"
SCRIPT = """\
import deepspeed
import torch

deepspeed.initialize(model=torch.nn.Linear(2, 2), config="ds.json")
"""
STEPS = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": %s}\n'


@pytest.mark.parametrize(
    ("name", "language", "text", "expected"),
    [
        ("ds.json", "json", CONFIG, ["DST803", "DST802"]),
        ("ds.json", "jsonc", CONFIG, ["DST803", "DST802"]),
        ("launch.sh", "shellscript", LAUNCH, ["DST821", "DST824"]),
        ("launch", "plaintext", LAUNCH, ["DST821", "DST824"]),
        ("acc.yaml", "yaml", ACCELERATE, ["DST812"]),
        ("Dockerfile", "dockerfile", "ENV NCCL_ASYNC_ERROR_HANDLING=1\n", ["DST821"]),
    ],
)
def test_findings_are_shown(
    tmp_path: Path, name: str, language: str, text: str, expected: list[str]
) -> None:
    path = tmp_path / name
    with Editor(tmp_path) as editor:
        editor.open(path, text, language=language)
        found = editor.diagnostics(path)
        assert codes(found) == expected
        at = found[0]["range"]["start"]
        assert expected[0] in editor.hover(path, at["line"], at["character"])


def test_the_quick_fix_changes_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "launch.sh"
    with Editor(tmp_path) as editor:
        editor.open(path, LAUNCH, language="shellscript")
        first = editor.diagnostics(path)[:1]
        fix = quick_fix(editor.actions(path, first), "Rename to `TORCH_NCCL")
        (change,) = fix["edit"]["documentChanges"]  # type: ignore[index]
        renamed = LAUNCH.replace("export NCCL_ASYNC", "export TORCH_NCCL_ASYNC")
        assert edited(LAUNCH, change["edits"]) == renamed


def test_a_comment_that_ignores_is_offered_where_the_file_takes_comments(tmp_path: Path) -> None:
    config, launch = tmp_path / "ds.json", tmp_path / "launch.sh"
    with Editor(tmp_path) as editor:
        editor.open(config, CONFIG, language="json")
        titles = [a["title"] for a in editor.actions(config, editor.diagnostics(config))]
        assert not any("Ignore" in title for title in titles)
        editor.open(launch, LAUNCH, language="shellscript")
        ignore = quick_fix(editor.actions(launch, editor.diagnostics(launch)), "Ignore DST821")
        (change,) = ignore["edit"]["documentChanges"]  # type: ignore[index]
        assert "distlint: ignore[DST821]" in edited(LAUNCH, change["edits"])


def test_files_that_neither_configure_nor_start_a_training_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "package.json"
    with Editor(tmp_path) as editor:
        editor.open(other, '{"name": "x",', language="json")
        assert editor.diagnostics(other) == []
        editor.change(other, CONFIG)
        assert codes(editor.diagnostics(other)) == ["DST803", "DST802"]


def test_text_is_no_python(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    with Editor(tmp_path) as editor:
        editor.open(notes, "to do: (", language="plaintext")
        script = tmp_path / "train.py"
        editor.open(script, BUGGY)
        assert editor.published.get(timeout=60)["uri"] == script.as_uri()


@pytest.mark.parametrize(
    ("name", "text", "steps", "code"),
    [("launch.sh", LINE, "4", "DST817"), ("train.py", SCRIPT, '"auto"', "DST809")],
)
def test_who_names_a_configuration_follows_it(
    tmp_path: Path, name: str, text: str, steps: str, code: str
) -> None:
    """As soon as that is saved."""
    path, config = tmp_path / name, tmp_path / "ds.json"
    config.write_text(STEPS % 8)
    with Editor(tmp_path) as editor:
        editor.open(path, text, language="python" if name == "train.py" else "shellscript")
        assert editor.diagnostics(path) == []
        editor.open(config, language="json")
        assert editor.diagnostics(config) == []
        editor.save(config, STEPS % steps)
        assert codes(editor.diagnostics(path)) == [code]
        editor.save(config, STEPS % 8)
        assert editor.diagnostics(path) == []
