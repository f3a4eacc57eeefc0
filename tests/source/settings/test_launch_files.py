"""Shell, Dockerfiles, Makefiles, workflows and Python: words and variables where they stand."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from distlint.source.document import Document
from distlint.source.settings.sheet import Sheet, read


def sheet(name: str, text: str) -> Sheet:
    found = read(Document.from_bytes(dedent(text).encode(), Path("/nowhere") / name))
    assert found is not None
    for setting in found.script.settings:
        written = found.document.text[setting.name_start : setting.name_end]
        assert written.strip("\"'") == setting.name
    return found


def words(found: Sheet) -> list[list[str | None]]:
    return [[word.text for word in command.words] for command in found.script.commands]


def variables(found: Sheet) -> list[tuple[str, str | None, str]]:
    return [(s.name, s.value, s.form) for s in found.script.settings]


def test_words_of_a_command_over_several_lines() -> None:
    found = sheet(
        "a.sh",
        """\
        torchrun --nproc_per_node 8 \\
          "train é.py" --name 'a b' \\
          --x=$1
        """,
    )
    assert words(found) == [
        ["torchrun", "--nproc_per_node", "8", "train é.py", "--name", "a b", None]
    ]
    last = found.script.commands[0].words[-1]
    assert found.document.text[last.start : last.end] == "--x=$1"


def test_a_variable_that_is_set_once_and_always_is_known() -> None:
    found = sheet(
        "a.sh",
        """\
        N=8
        M=${M:-4}
        if true; then K=1; fi
        for i in 1 2; do echo $i; done
        run $N $M $K ${N}x "$N" $UNSET
        """,
    )
    assert words(found)[-1] == ["run", "8", None, None, "8x", "8", None]


def test_a_variable_that_is_set_twice_is_not_known() -> None:
    assert words(sheet("a.sh", "N=8\nN=4\nrun $N\n")) == [["run", None]]


def test_which_variables_reach_a_command() -> None:
    found = sheet(
        "a.sh",
        """\
        A=1
        export B=2
        C=3
        export C
        D=4 env E=5 run
        """,
    )
    assert variables(found) == [
        ("A", "1", "variable"),
        ("B", "2", "export"),
        ("C", "3", "export"),
        ("D", "4", "prefix"),
        ("E", "5", "env"),
    ]
    command = found.script.commands[0]
    assert [s.name for s in command.environment] == ["B", "C"]
    assert [s.name for s in command.given] == ["D", "E"]
    assert [word.text for word in command.words] == ["run"]


def test_a_dockerfile() -> None:
    found = sheet(
        "Dockerfile",
        """\
        FROM pytorch
        # a comment
        ENV A=1 B="two"
        ENV C three
        RUN --mount=type=cache,target=/x \\
            pip install x && \\
            # in between
            D=4 torchrun a.py
        CMD ["torchrun", "--nproc_per_node", "2", "b.py"]
        """,
    )
    assert variables(found) == [
        ("A", "1", "image"),
        ("B", "two", "image"),
        ("C", "three", "image"),
        ("D", "4", "prefix"),
    ]
    assert words(found) == [
        ["pip", "install", "x"],
        ["torchrun", "a.py"],
        ["torchrun", "--nproc_per_node", "2", "b.py"],
    ]
    assert [s.name for s in found.script.commands[1].environment] == ["A", "B", "C"]


def test_a_makefile() -> None:
    found = sheet(
        "Makefile",
        """\
        export NCCL_DEBUG = INFO
        GPUS = 8
        train: data
        \t@torchrun --nproc_per_node=$(GPUS) \\
        \t\ttrain.py --home $$HOME
        """,
    )
    assert variables(found) == [("NCCL_DEBUG", "INFO", "image")]
    assert words(found) == [["torchrun", None, "train.py", "--home", None]]


def test_a_workflow() -> None:
    found = sheet(
        ".github/workflows/ci.yml",
        """\
        on: push
        env:
          A: 1
        jobs:
          test:
            env: {B: "${{ matrix.b }}"}
            steps:
              - run: torchrun a.py
              - shell: python
                run: import os
              - run: |
                  export C=3
                  torchrun --nproc_per_node ${{ matrix.gpus }} b.py
        """,
    )
    assert variables(found) == [("A", "1", "image"), ("B", None, "image"), ("C", "3", "export")]
    assert words(found) == [
        ["torchrun", "a.py"],
        ["torchrun", "--nproc_per_node", None, "b.py"],
    ]
    assert [s.name for s in found.script.commands[1].environment] == ["A", "B", "C"]


def test_a_script() -> None:
    found = sheet(
        "a.py",
        """\
        import os, subprocess
        import deepspeed
        os.environ["A"] = "1"
        os.environ.setdefault('B', "2")
        os.environ.update({"C": "3"})
        os.putenv("D", str(4))
        subprocess.run(["torchrun", f"--x={level}", "é.py"])
        os.system("E=5 torchrun b.py")
        config = {"train_batch_size": 8, "zero_optimization": {"stage": level}}
        deepspeed.initialize(config=config)
        changed = {"train_batch_size": 8}
        changed["train_batch_size"] = 4
        deepspeed.initialize(config=changed)
        deepspeed.initialize(config="ds.json")
        """,
    )
    assert variables(found) == [
        ("A", "1", "python"),
        ("B", "2", "python"),
        ("C", "3", "python"),
        ("D", None, "python"),
        ("E", "5", "prefix"),
    ]
    assert words(found) == [["torchrun", None, "é.py"], ["torchrun", "b.py"]]
    assert [config.root.value("train_batch_size") for config in found.configs] == [8]
    assert [name.value for name, _ in found.config_files] == ["ds.json"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", 'torchrun "never closed\nif then fi ((( $('),
        ("a.sh", "cat <<EOF\n{{ x }} $(\nEOF\n"),
        ("Dockerfile", "RUN <<EOF\ntorchrun"),
        ("Dockerfile", "ENV\nRUN [\nCMD [1,"),
        ("Makefile", "a:\n\t$(\n\t$"),
        (".github/workflows/a.yml", "jobs:\n- run: 'a''b'\n- run: >\n"),
        ("a.py", "def f(:\n"),
    ],
)
def test_what_cannot_be_read_crashes_nothing(name: str, text: str) -> None:
    assert sheet(name, text).document.text == dedent(text)
