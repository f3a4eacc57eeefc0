"""What IPython adds to Python is put out of sight, and everything else stays where it is."""

from __future__ import annotations

import ast

import pytest

from distlint.source.magics import MASK, blank, python_of, written_by


def seen(source: str, **how: bool) -> str:
    """What is left of a cell, without what stands for the rest."""
    text = python_of(source, **how)
    assert text is not None
    assert len(text) == len(source)
    assert text.count("\n") == source.count("\n")
    ast.parse(text)
    return "\n".join(line.split("#" + MASK)[0].rstrip("#") for line in text.split("\n"))


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("x = 1", "x = 1"),
        ("%matplotlib inline\nx", "_\nx"),
        ("!pip install torch", "_"),
        ("if x:\n    !ls\ny", "if x:\n    _\ny"),
        ("files = !ls *.py", "files = _"),
        ("a, b = %timeit -o f()", "a, b = _"),
        ("!ls \\\n  -l \\\n  .\nx", "_\n\n\nx"),
        ("?print", "_"),
        ("torch.ones?", "_"),
        ("torch.ones??  # why", "_"),
        ("!", "_"),
        ("%time x = f(1)", "_;    x = f(1)"),
        ("%time for x in y: f()", "_"),
        ("%time -n 3", "_"),
        ("%%time\nx = f()", "_\nx = f()"),
        ("\n%%capture out\nx", "\n_\nx"),
    ],
)
def test_magics_are_values_that_nothing_is_known_of(source: str, left: str) -> None:
    assert seen(source) == left


@pytest.mark.parametrize(
    "source",
    [
        "x = (a\n     % b)",
        "x = a \\\n  % b",
        's = """\n%time\n!ls\nwhat?\n"""',
        "s = '''a\n?'''",
        "a %= 3",
        "if a != b: pass",
        'print("100%", "really?")',
        "x = 1  # why?",
        "s = 'it\\'s = !x'",
        "f(x=1) % 3",
    ],
)
def test_python_is_left_alone(source: str) -> None:
    assert python_of(source) == source


@pytest.mark.parametrize("magic", ["bash", "writefile train.py", "html", "javascript", "python2"])
def test_cells_in_other_languages(magic: str) -> None:
    assert python_of(f"%%{magic}\nx = 1") is None


def test_magics_without_a_sign_are_only_looked_for_when_asked() -> None:
    assert python_of("pip install torch") == "pip install torch"
    assert seen("pip install torch\nls -l\nx = 1", bare=True) == "_\n_\nx = 1"
    for source in ("ls = 1", "cat.sit()", "run(1)", "who: int = 1", "env[0]"):
        assert python_of(source, bare=True) == source


def test_a_blank_cell_has_its_rows_and_no_code() -> None:
    assert blank("x = 1\r\n\r\n)") == f"#{MASK * 4}\r\n\r\n#"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%%writefile train.py", ("train.py", False)),
        ("\n%%writefile  -a src/train.py  ", ("src/train.py", True)),
        ("%%file --append 'my train.py'", ("my train.py", True)),
        ('%%writefile {folder}/"train".py', ('{folder}/"train".py', False)),
        ("%%writefile train.yaml", None),
        ("# %%writefile train.py", None),
        ("%%writefile", None),
    ],
)
def test_the_file_that_a_cell_writes(line: str, expected: tuple[str, bool] | None) -> None:
    written = written_by(f"{line}\r\n!ls\n")
    assert (written and (written.name, written.appends)) == expected
    if written is not None:
        assert len(written.python) == len(line) + 6
        assert written.python.endswith("\r\n!ls\n")
