"""Functions that keep what is a rank's own to themselves need not be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.analyzer.static.effects import Effects, effects_of
from distlint.source.document import Document

HEAD = "import time, torch\nimport torch.distributed as dist\n\nLOG = []\n\n"


def effects(text: str) -> tuple[Effects, dict[str, object]]:
    path = Path("script.py")
    project = Project(path.parent)
    module = project.add(Document.from_bytes((HEAD + text).encode(), path))
    functions: dict[str, object] = {function.name: function for function in module.functions}
    return effects_of(project, module, project.catalogue_of(module)), functions


def leaks(text: str) -> bool:
    found, functions = effects(text)
    return found.taint.leaks(functions["f"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        "if dist.get_rank() == 0:\n    print(x)",
        "start = time.time()\nx = x + 1\nprint(time.time() - start)\nreturn x",
        "def show():\n    print(dist.get_rank())\nshow()\nreturn x",
        "lines = []\nif dist.get_rank() == 0:\n    lines.append(x)\n    print(lines)",
        "try:\n    import fast\nexcept ImportError:\n    fast = None\nreturn fast",
        "try:\n    return x.shape\nexcept ValueError:\n    raise",
        "s = x.name\nif not s:\n    raise ValueError\ns = f'{time.time()}'\nprint(s)\nreturn x",
        "t = time.time()\nprint(t)\nt = 0\nreturn t",
        "for t in x:\n    print(t)\n    t = time.time()\n    print(t)\n    t = 0\nreturn t",
    ],
    ids=[
        "print",
        "timer",
        "nested",
        "own list",
        "import",
        "passed on",
        "later",
        "bound again",
        "bound again in a loop",
    ],
)
def test_kept_inside(body: str) -> None:
    assert not leaks(f"def f(x):\n{indented(body)}")


@pytest.mark.parametrize(
    "body",
    [
        "return dist.get_rank() == 0",
        "rank = dist.get_rank()\nfirst = rank == 0\nreturn first",
        "if dist.get_rank() == 0:\n    return 1\nreturn 2",
        "if dist.get_rank() == 0:\n    return\nreturn 2",
        "x.is_main = dist.get_rank() == 0",
        "x['rank'] = dist.get_rank()",
        "if dist.get_rank():\n    LOG.append(x)",
        "for i in range(9):\n    if time.time() > x:\n        break\nreturn i",
        "if dist.get_rank() == 3:\n    raise ValueError(x)",
        "try:\n    x = x.item()\nexcept RuntimeError:\n    return None\nreturn 1",
        "yield dist.get_rank()",
        "if dist.get_rank() == 0:\n    x()",
        "ok = False\ntry:\n    x.item()\n    ok = True\nexcept OSError:\n    pass\nreturn ok",
        "t = 0\nif x:\n    t = time.time()\nreturn t",
        "t = 0\nfor i in x:\n    if t:\n        return 1\n    t = time.time()\nreturn 2",
        "while True:\n    t = time.time()\n    if x:\n        break\n    t = 0\nreturn t",
        "try:\n    t = time.time()\n    x()\n    t = 0\nexcept ImportError:\n    pass\nreturn t",
        "t = 0\ndef g():\n    return t\nt = time.time()\nreturn g()",
        "t = 0\ng = lambda: t\nt = time.time()\nreturn g()",
        "t = time.time()\nt += 1\nreturn t",
    ],
    ids=[
        "returned",
        "through names",
        "by a branch",
        "by returning early",
        "attribute",
        "item",
        "appended",
        "by breaking",
        "raised",
        "swallowed",
        "yielded",
        "given function",
        "cut short",
        "in one arm",
        "in the next turn",
        "by a break",
        "in a handler",
        "by a nested function",
        "by a lambda",
        "counted on",
    ],
)
def test_let_out(body: str) -> None:
    assert leaks(f"def f(x):\n{indented(body)}")


def test_through_functions_and_globals() -> None:
    assert leaks(
        "def g():\n    return dist.get_rank()\ndef f():\n    value = g()\n    return value\n"
    )
    assert leaks("def g(a):\n    a.x = 1\ndef f(a):\n    if dist.get_rank():\n        g(a)\n")
    assert leaks("FIRST = dist.get_rank() == 0\ndef f():\n    return FIRST\n")
    assert not leaks("def g(a):\n    print(a)\ndef f(a):\n    if dist.get_rank():\n        g(a)\n")


def test_through_globals_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "here.py").write_text(HEAD + "FIRST = dist.get_rank() == 0\nNAME = 'run'\n")
    text = (
        "import torch.distributed as dist\n"
        "import here\nfrom here import FIRST, NAME\n"
        "def imported():\n    return FIRST\n"
        "def attribute():\n    return here.FIRST\n"
        "def other():\n    return NAME\n"
    )
    path = tmp_path / "script.py"
    path.write_text(text)
    project = Project(tmp_path)
    module = project.add(Document.read(path))
    found = effects_of(project, module, project.catalogue_of(module))
    letting_out = {each.name: found.taint.leaks(each) for each in module.functions}
    assert letting_out == {"imported": True, "attribute": True, "other": False}


def test_what_a_function_changes() -> None:
    found, functions = effects(
        "class Stopper:\n"
        "    def update(self, loss):\n"
        "        worse = loss > self.best\n"
        "        self.best, self.count = loss, self.count + worse\n"
        "def f(config):\n    config['a'] = 1\n"
        "def g(loss):\n    total = []\n    total.append(loss)\n    return total\n"
    )
    changed = {name: found.graph.changes(each) for name, each in functions.items()}  # type: ignore[arg-type]
    assert changed == {"update": {"best", "count"}, "f": {"*"}, "g": set()}


def indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())


HELPERS = """
class Kept:
    def __init__(self, title, date=None):
        self.title = title
        self.date = date

    def put(self, name, value):
        LOG.append(value)

    @staticmethod
    def note(name, value):
        LOG.append(value)


class Registered:
    def __init__(self, date, options):
        options["date"] = date


class Counted:
    def __init__(self, date):
        LOG.append(date)


def stored(x, number, options):
    options["x"] = x
    return number


def passed_on(x, *rest, key=None):
    return stored(x, *rest)
"""


@pytest.mark.parametrize(
    "body",
    [
        "made = Kept('a', time.time())\nprint(made)",
        "made = Kept(title='a', date=time.time())\nprint(made)",
        "now = time.time()\nmade = Kept(now)\nprint(made.title)",
        "options = {}\nstored(x, time.time(), options)\nreturn x",
        "options = {}\nstored(x, number=time.time(), options=options)\nreturn x",
        "options = {}\nprint(passed_on(x, time.time(), options))",
    ],
    ids=[
        "given to a constructor",
        "by its keyword",
        "by a variable",
        "to a function that changes something by another parameter",
        "by its keyword to that function",
        "one call deeper",
    ],
)
def test_kept_by_what_is_called(body: str) -> None:
    assert not leaks(HELPERS + f"\n\ndef f(x):\n{indented('now = 0' + chr(10) + body)}")


@pytest.mark.parametrize(
    "body",
    [
        "now = time.time()\nreturn Kept('a', now)",
        "now = time.time()\nRegistered(now, x)",
        "now = time.time()\nCounted(now)",
        "now = time.time()\nstored(now, 0, x)",
        "now = time.time()\nstored(x=now, number=0, options=x)",
        "now = time.time()\nstored(*now, 0, x)",
        "now = time.time()\npassed_on(now, 0, x)",
        "now = time.time()\nx.put('a', now)",
        "now = time.time()\nKept.put(x, 'a', now)",
        "now = time.time()\nKept.note('a', now)",
        "now = time.time()\ndef keep():\n    LOG.append(now)\nkeep()",
    ],
    ids=[
        "the new object is returned",
        "a constructor changes what it is given",
        "a constructor changes a global",
        "a function stores it",
        "by its keyword",
        "by a star",
        "one call deeper",
        "by a method",
        "by a method of the class",
        "by a static method",
        "by a function in the function",
    ],
)
def test_let_out_by_what_is_called(body: str) -> None:
    assert leaks(HELPERS + f"\n\ndef f(x):\n{indented(body)}")
