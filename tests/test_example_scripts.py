"""The scripts of examples/: the bugs of the table are found, the correct versions are clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import findings

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

BUGS = {
    "accelerate_style": {
        "if accelerator.is_main_process:": "DST101",
        "break": "DST102",
    },
    "deepspeed_style": {
        "continue": "DST117",
        "if step % args.save_every == 0 and dist.get_rank() == 0:": "DST407",
    },
    "lightning_style": {
        "if self.trainer.is_global_zero:": "DST116",
        "if trainer.is_global_zero:": "DST407",
    },
    "nanogpt_style": {
        "if iter_num % eval_interval == 0 and master_process:": "DST101",
        "break": "DST102",
    },
}


def test_every_folder_has_its_pair() -> None:
    folders = {path.name: path for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders.keys() == BUGS.keys()
    for folder in folders.values():
        assert {path.name for path in folder.glob("*.py")} == {"buggy.py", "correct.py"}


@pytest.mark.parametrize("folder", BUGS)
def test_bugs_are_found(folder: str) -> None:
    source = (EXAMPLES / folder / "buggy.py").read_text()
    lines = [line.strip() for line in source.splitlines()]
    marks = sorted((lines.index(text) + 1, code) for text, code in BUGS[folder].items())
    assert findings(source) == marks


@pytest.mark.parametrize("folder", BUGS)
def test_correct_script_is_clean(folder: str) -> None:
    assert findings((EXAMPLES / folder / "correct.py").read_text()) == []


@pytest.mark.parametrize("folder", BUGS)
def test_readme_names_every_code(folder: str) -> None:
    readme = (EXAMPLES / "README.md").read_text()
    _, _, rows = readme.partition(f"({folder}/buggy.py)")
    for code in BUGS[folder].values():
        assert code in rows.partition("_style/buggy.py)")[0]
