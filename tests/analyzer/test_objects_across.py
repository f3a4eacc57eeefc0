"""Where values come from when other files make them, keep them or are given them."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from distlint.analyzer import ir
from distlint.analyzer.project.project import Project
from distlint.analyzer.static.objects.objects import Objects, forget, objects_across, objects_of
from distlint.analyzer.static.reaching_definitions import Point
from distlint.source.document import Document

ASKED = "ask"
"""The function of the scripts whose argument is looked at."""


def _objects(folder: Path, files: dict[str, str]) -> tuple[Project, Objects]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    project = Project(folder)
    module = project.add(Document.read(folder / "train.py"))
    return project, objects_across(module, project.catalogue_of(module))


def _origins(objects: Objects) -> list[tuple[str, str]]:
    """The calls that an argument comes from, each with the file that it stands in."""
    (site,) = objects.calls({ASKED})
    return [
        (each.point.scope.module.path.name, ir.last_name(each.node.func))
        for each in objects.origins(site.call.args[0].value, site.point)
        if isinstance(each.node, ir.Call)
    ]


MADE = {
    "returned by a function": {
        "lib.py": "from torch import nn\ndef build():\n    return nn.Linear(1, 1)\n",
        "train.py": "from lib import build\nask(build())\n",
    },
    "one of two results": {
        "lib.py": (
            "from torch import nn\ndef build():\n    net = nn.Linear(1, 1)\n    return 1, net\n"
        ),
        "train.py": "from lib import build\nsize, net = build()\nask(net)\n",
    },
    "through two files": {
        "base.py": "from torch import nn\ndef build():\n    return nn.Linear(1, 1)\n",
        "lib.py": "from base import build\ndef make():\n    return build().cuda()\n",
        "train.py": "import lib\nask(lib.make())\n",
    },
    "an attribute of an object": {
        "lib.py": (
            "from torch import nn\nclass Setup:\n    def __init__(self):\n"
            "        self.net = nn.Linear(1, 1)\n"
        ),
        "train.py": "from lib import Setup\nsetup = Setup()\nask(setup.net)\n",
    },
    "given to an object": {
        "lib.py": "class Setup:\n    def __init__(self, net):\n        self.net = net\n",
        "train.py": (
            "from torch import nn\nfrom lib import Setup\nsetup = Setup(nn.Linear(1, 1))\n"
            "ask(setup.net)\n"
        ),
    },
    "made by a method": {
        "lib.py": (
            "from torch import nn\nclass Setup:\n    def build(self):\n"
            "        return nn.Linear(1, 1)\n"
        ),
        "train.py": "from lib import Setup\nsetup = Setup()\nask(setup.build())\n",
    },
    "an attribute of the base class": {
        "lib.py": (
            "from torch import nn\nclass Base:\n    def __init__(self):\n"
            "        self.net = nn.Linear(1, 1)\n"
        ),
        "train.py": (
            "from lib import Base\nclass Run(Base):\n    def start(self):\n        ask(self.net)\n"
        ),
    },
    "an attribute of the derived class": {
        "lib.py": (
            "from torch import nn\nfrom train import Base\nclass Run(Base):\n"
            "    def __init__(self):\n        self.net = nn.Linear(1, 1)\n"
        ),
        "train.py": "class Base:\n    def start(self):\n        ask(self.net)\n",
    },
    "a variable of another file": {
        "lib.py": "from torch import nn\nnet = nn.Linear(1, 1)\n",
        "train.py": "import lib\nask(lib.net)\n",
    },
    "an attribute of an attribute of a variable of another file": {
        "lib.py": (
            "from torch import nn\nclass Inner:\n    def __init__(self):\n"
            "        self.net = nn.Linear(1, 1)\nclass Outer:\n    def __init__(self):\n"
            "        self.inner = Inner()\nouter = Outer()\n"
        ),
        "train.py": "from lib import outer\nask(outer.inner.net)\n",
    },
    "an argument of a caller": {
        "lib.py": "from torch import nn\nfrom train import start\nstart(nn.Linear(1, 1))\n",
        "train.py": "def start(net):\n    ask(net)\n",
    },
    "an item of a dict": {
        "lib.py": 'from torch import nn\ndef build():\n    return {"net": nn.Linear(1, 1)}\n',
        "train.py": 'from lib import build\nparts = build()\nask(parts["net"])\n',
    },
}


@pytest.mark.parametrize("files", MADE.values(), ids=list(MADE))
def test_a_value_is_followed_into_the_file_that_makes_it(
    tmp_path: Path, files: dict[str, str]
) -> None:
    _, objects = _objects(tmp_path, files)

    ((_, name),) = _origins(objects)

    assert name == "Linear"
    made = [each for each in objects.origins(*_asked(objects)) if isinstance(each.node, ir.Call)]
    assert [objects.called(each.site) for each in made if each.site] == ["torch.nn.Linear"]


def _asked(objects: Objects) -> tuple[ir.Expr, Point]:
    (site,) = objects.calls({ASKED})
    return site.call.args[0].value, site.point


def test_a_variable_of_the_same_name_hides_an_import(tmp_path: Path) -> None:
    files = {
        "lib.py": "from torch import nn\nnet = nn.Linear(1, 1)\n",
        "train.py": "from lib import net\ndef start(net):\n    ask(net)\n",
    }
    _, objects = _objects(tmp_path, files)

    assert _origins(objects) == []


def test_functions_that_call_each_other_across_files_come_to_an_end(tmp_path: Path) -> None:
    files = {
        "lib.py": "from train import ping\ndef pong(net):\n    return ping(net.inner)\n",
        "train.py": "from lib import pong\ndef ping(net):\n    ask(net)\n    return pong(net)\n",
    }
    _, objects = _objects(tmp_path, files)

    assert _origins(objects) == []


def test_what_is_known_is_forgotten_with_a_file_that_changes(tmp_path: Path) -> None:
    files = {
        "lib.py": "from torch import nn\ndef build():\n    return nn.Linear(1, 1)\n",
        "train.py": "from lib import build\nask(build())\n",
    }
    project, objects = _objects(tmp_path, files)
    assert _origins(objects) == [("lib.py", "Linear")]

    (tmp_path / "lib.py").write_text("from torch import nn\ndef build():\n    return nn.GRU(1)\n")
    project.forget(tmp_path / "lib.py")
    module = project.add(Document.read(tmp_path / "train.py"))

    assert _origins(objects_across(module, project.catalogue_of(module))) == [("lib.py", "GRU")]


def test_what_is_known_is_let_go_of(tmp_path: Path) -> None:
    files = {
        "lib.py": "from torch import nn\ndef build():\n    return nn.Linear(1, 1)\n",
        "train.py": "from lib import build\nask(build())\n",
    }
    project, objects = _objects(tmp_path, files)
    assert _origins(objects)
    kept = weakref.ref(objects)

    del objects
    forget([project])
    gc.collect()

    assert kept() is None


def test_within_a_file_a_value_ends_at_the_call_of_another(tmp_path: Path) -> None:
    files = {
        "lib.py": "from torch import nn\ndef build():\n    return nn.Linear(1, 1)\n",
        "train.py": "from lib import build\nask(build())\n",
    }
    project, objects = _objects(tmp_path, files)

    own = objects_of(objects.module, project.catalogue_of(objects.module))

    assert _origins(own) == [("train.py", "build")]
