"""Which functions may communicate, by the names that they mention."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project.project import Project
from distlint.analyzer.static.effects import effects_of
from distlint.catalogue.catalogue import Catalogue
from distlint.source.document import Document

IMPORTS = """\
import os
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("dist.barrier()", True),
        ("with ddp_model.join():\n        pass", True),
        ("return sorted(names)", False),
        ("return g(names)", True),
        ("step = len(names)\n    return step + 1", False),
        ("return ', '.join(names) + os.path.join(*names)", False),
        ("return dict(barrier=names)", False),
    ],
    ids=[
        "a collective",
        "a wrapped model that joins",
        "nothing",
        "through another function",
        "a variable of the name of a collective",
        "texts and paths that are joined beside a wrapped model",
        "an argument of the name of a collective",
    ],
)
def test_may_meet(body: str, expected: bool) -> None:
    assert may_communicate(IMPORTS, body) is expected


SCRIPT = """\
import functools
import operator
import os
import torch
import torch.distributed as dist
from functools import reduce
from torch.distributed import reduce as to_first
from torch.nn.parallel import DistributedDataParallel

def save(x):
    dist.barrier()

class Store:
    def load(self):
        dist.barrier()

    def __init__(self):
        def fetch():
            dist.barrier()
        def hidden():
            dist.barrier()
        self.fetch = fetch
        self.other = hidden

def decorated(function):
    def wrapper():
        dist.barrier()
        return function()
    return wrapper

"""


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("def f(x):\n    return reduce(operator.add, x)", False),
        ("def f(x):\n    return functools.reduce(operator.add, x)", False),
        (
            "def f(x):\n    from functools import reduce as add\n    return add(operator.add, x)",
            False,
        ),
        ("def f(x):\n    torch.save(x, 'a')", False),
        ("def f(x):\n    torch.jit.load(x)", False),
        ("def f(x):\n    def wrapper():\n        return x\n    return wrapper()", False),
        ("def f(x):\n    return x.wrapper()", False),
        ("def f(x):\n    return x.hidden()", False),
        ("def f(x):\n    to_first(x, 0)", True),
        ("def f(x):\n    from torch.distributed import reduce\n    reduce(x, 0)", True),
        ("def f(torch):\n    torch.save()", True),
        ("def f(x):\n    torch = x\n    torch.load()", True),
        ("def f(x):\n    save(x)", True),
        ("def f(x):\n    return x.load()", True),
        ("def f(x):\n    return x.fetch()", True),
        ("@decorated\ndef f(x):\n    return x", True),
        ("def f(x, then=save):\n    return x", True),
        ("def f(x):\n    return getattr(x, 'load')()", True),
    ],
)
def test_a_name_leads_where_python_finds_it(function: str, expected: bool) -> None:
    path = Path("script.py").absolute()
    project = Project(path.parent)
    module = project.add(Document.from_bytes((SCRIPT + function + "\n").encode(), path))
    effects = effects_of(project, module, project.catalogue_of(module))
    found = next(item for item in module.functions if item.name == "f")
    assert effects.may_communicate(found) is expected


def test_paths_that_are_joined_are_no_collective() -> None:
    assert not may_communicate(
        "import os\nimport torch.distributed as dist\n", "os.path.join('a', 'b')"
    )


def may_communicate(imports: str, body: str) -> bool:
    path = Path("script.py").absolute()
    text = f"{imports}\ndef g(x):\n    dist.barrier()\n\ndef f(names, ddp_model):\n    {body}\n"
    project = Project(path.parent)
    module = project.add(Document.from_bytes(text.encode(), path))
    effects = effects_of(project, module, project.catalogue_of(module))
    return effects.may_communicate(next(item for item in module.functions if item.name == "f"))


def test_a_package_that_only_passes_names_on_is_looked_through(tmp_path: Path) -> None:
    inner = tmp_path / "text" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "text" / "__init__.py").write_text("from .inner import generate\n")
    (inner / "__init__.py").write_text("from .api import generate\n")
    (inner / "api.py").write_text(
        "import torch.distributed as dist\n\ndef generate(x):\n    dist.broadcast(x, 0)\n"
    )
    path = tmp_path / "script.py"
    text = f"{IMPORTS}from text import generate\n\ndef f(x):\n    generate(x)\n"
    project = Project(tmp_path)
    module = project.add(Document.from_bytes(text.encode(), path))
    effects = effects_of(project, module, project.catalogue_of(module))
    assert effects.may_communicate(module.functions[0])


CHANCE = "if random.random() > names:\n        return 1"
FAILURE = "if names is None:\n        raise ValueError"
RANK = "if dist.get_rank() == 0:\n        return 1"


@pytest.mark.parametrize(
    ("does", "short", "long"),
    [
        (CHANCE, True, False),
        (FAILURE, True, False),
        (RANK, True, True),
        ("return names", False, False),
    ],
    ids=["a random number", "a failure", "the rank", "nothing"],
)
def test_long_helpers_are_followed_for_ranks_alone(does: str, short: bool, long: bool) -> None:
    assert matters(does) is short
    assert matters("\n    ".join([*(f"x{number} = names" for number in range(14)), does])) is long


def matters(body: str) -> bool:
    path = Path("script.py").absolute()
    text = f"import random\nimport torch.distributed as dist\n\ndef f(names):\n    {body}\n"
    project = Project(path.parent)
    module = project.add(Document.from_bytes(text.encode(), path))
    return effects_of(project, module, project.catalogue_of(module)).matters(module.functions[0])


@pytest.mark.parametrize(
    ("owner", "member", "expected"),
    [
        ("pathlib.Path", None, False),
        ("torch.nn.Linear", None, False),
        ("torch.nn.parallel.DistributedDataParallel", None, True),
        ("accelerate.Accelerator", None, True),
        ("accelerate.Accelerator", "device", False),
        ("accelerate.Accelerator", "gather", True),
        ("accelerate.Accelerator", "is_main_process", True),
    ],
)
def test_objects_that_can_tell_ranks_apart(owner: str, member: str | None, expected: bool) -> None:
    catalogue = Catalogue.load(["accelerate"], with_weak=False)
    if member is None:
        assert catalogue.is_telling(owner) is expected
    else:
        assert catalogue.member_is_telling(owner, member) is expected


TRAINERS = {
    "the class": ("from transformers import Trainer\n", True),
    "a class derived from it": ("from transformers import Seq2SeqTrainer\n", True),
    "a class of the file": (
        "import transformers\nclass Mine(transformers.Trainer):\n    pass\n",
        True,
    ),
    "a class of another file": ("from mine import Mine\n", True),
    "a variable": ("import transformers\nfrom made import trainer\n", True),
    "the module of it": ("from transformers.trainer import Trainer as T\n", True),
    "the library alone": ("import transformers\n", False),
    "a model of the library": ("from transformers import AutoModel\n", False),
    "what it is trained with": ("from transformers import get_scheduler, set_seed\n", False),
    "another class of it": ("from transformers import TrainingArguments\n", False),
}


@pytest.mark.parametrize("name", TRAINERS)
def test_train_is_a_collective_only_beside_a_name_of_its_class(name: str, tmp_path: Path) -> None:
    head, expected = TRAINERS[name]
    (tmp_path / "mine.py").write_text(
        "import torch.distributed as dist\nfrom transformers import Trainer\n"
        "class Mine(Trainer):\n    pass\n"
    )
    (tmp_path / "script.py").write_text(
        f"import torch.distributed as dist\n{head}\ndef f(given):\n    given.train()\n"
    )
    project = Project(tmp_path)
    module = project.add(Document.read(tmp_path / "script.py"))
    found = effects_of(project, module, project.catalogue_of(module))
    assert found.may_communicate(module.functions[-1]) is expected
