"""Which functions may communicate, by the names that they mention."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project import Project
from distlint.analyzer.reach import reach_of
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
    assert may_meet(IMPORTS, body) is expected


def test_paths_that_are_joined_are_no_collective() -> None:
    assert not may_meet("import os\nimport torch.distributed as dist\n", "os.path.join('a', 'b')")


def may_meet(imports: str, body: str) -> bool:
    path = Path("script.py").absolute()
    text = f"{imports}\ndef g(x):\n    dist.barrier()\n\ndef f(names, ddp_model):\n    {body}\n"
    project = Project(path.parent)
    module = project.add(Document.from_bytes(text.encode(), path))
    reach = reach_of(project, project.catalogue_of(module))
    return reach.may_meet(next(item for item in module.functions if item.name == "f"))


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
    reach = reach_of(project, project.catalogue_of(module))
    assert reach.may_meet(module.functions[0])
