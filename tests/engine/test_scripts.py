"""A script is judged by the frameworks of what it imports: it often names none itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver

TRAINER = """\
from accelerate import Accelerator


class Trainer:
    def __init__(self):
        self.accelerator = Accelerator()

    def is_main(self):
        return self.accelerator.is_main_process

    def save(self):
        self.accelerator.wait_for_everyone()
"""
ENGINE = """\
import deepspeed
import torch


def make():
    engine, _, _, _ = deepspeed.initialize(model=torch.nn.Linear(1, 1))
    return engine


def save(engine):
    engine.save_checkpoint("out")
"""
LOOP = """\
for step in range(10):
    if trainer.is_main():
        trainer.save()
"""
AGREED = """\
for step in range(10):
    trainer.save()
    if trainer.is_main():
        print(step)
"""
MAKE = "from trainer import Trainer\n\ntrainer = Trainer()\n"
GUARDED = """\
def main():
    trainer = Trainer()
    if trainer.is_main():
        trainer.save()


if __name__ == "__main__":
    main()
"""


def hangs(folder: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    report = check_paths([folder], Resolver(Overrides(isolated=True), folder), jobs=1)
    return [
        (each.place.path.relative_to(folder).as_posix(), each.code)
        for each in report.findings
        if each.code in {"DST101", "DST407"}
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"main.py": MAKE + LOOP, "trainer.py": TRAINER},
        {"main.py": "import trainer as t\n\ntrainer = t.Trainer()\n" + LOOP, "trainer.py": TRAINER},
        {"main.py": "import torch\n" + MAKE + LOOP, "trainer.py": TRAINER},
        {"main.py": "from trainer import Trainer\n\n\n" + GUARDED, "trainer.py": TRAINER},
        {
            "main.py": "from trainer import Trainer\n\n\n" + GUARDED,
            "trainer.py": TRAINER,
            "other.py": "from main import main\n",
        },
        {
            "main.py": "from lib import Trainer\n\ntrainer = Trainer()\n" + LOOP,
            "lib/__init__.py": "from .trainer import Trainer\n",
            "lib/trainer.py": TRAINER,
        },
        {
            "tools/main.py": "from lib.trainer import Trainer\n\ntrainer = Trainer()\n" + LOOP,
            "lib/__init__.py": "",
            "lib/trainer.py": TRAINER,
        },
        {
            "main.py": "from make import trainer\n\n" + LOOP,
            "make.py": MAKE,
            "trainer.py": TRAINER,
        },
        {
            "main.py": "import os\nfrom engine import make, save\n\n"
            'if int(os.environ["RANK"]) == 0:\n    save(make())\n',
            "engine.py": ENGINE,
        },
        {
            "main.py": "from run import start\n\nstart()\n",
            "run.py": "import os\nfrom engine import make, save\n\n\ndef start():\n"
            '    model = make()\n    if int(os.environ["RANK"]) == 0:\n        save(model)\n',
            "engine.py": ENGINE,
        },
    ],
    ids=[
        "a script without any word of a framework",
        "a module that is imported by its name",
        "a script that imports torch alone",
        "a main function",
        "a main function that others import",
        "a package that passes the class on",
        "a script in another folder",
        "an object of a second file",
        "deepspeed in a helper",
        "deepspeed one file deeper",
    ],
)
def test_a_hang_in_a_script_that_names_no_framework(tmp_path: Path, files: dict[str, str]) -> None:
    (where, _code), *others = hangs(tmp_path, files)
    assert where in {"main.py", "tools/main.py", "run.py"}
    assert not others


@pytest.mark.parametrize(
    "files",
    [
        {"main.py": MAKE + AGREED, "trainer.py": TRAINER},
        {"test_main.py": MAKE + LOOP, "trainer.py": TRAINER},
        {"main.py": MAKE + LOOP, "trainer.py": TRAINER.replace("self.accelerator.wait", "print")},
    ],
    ids=["all ranks save", "a test", "nothing communicates"],
)
def test_no_hang_in_a_script_that_names_no_framework(tmp_path: Path, files: dict[str, str]) -> None:
    assert hangs(tmp_path, files) == []
