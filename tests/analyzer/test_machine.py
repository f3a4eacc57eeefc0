"""One rank's projection of a program."""

from __future__ import annotations

from pathlib import Path

from distlint.analyzer import ir
from distlint.analyzer.cluster import Cluster
from distlint.analyzer.machine import Machine
from distlint.analyzer.project import Project
from distlint.analyzer.reach import reach_of
from distlint.analyzer.rehearsal import Rehearsal
from distlint.analyzer.state import Frame
from distlint.source.document import Document


def test_what_another_module_evaluates_leaves_the_call_where_it_stands(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("import torch\n" + "x = dict(a=1)\n" * 50 + "DEVICE = torch.device('cpu')\n")
    project = Project(tmp_path)
    script = Document.from_bytes(b"from other import DEVICE\n", tmp_path / "script.py")
    module = project.add(script)
    catalogue = project.catalogue_of(module)
    reach = reach_of(project, catalogue)
    machine = Machine(Rehearsal(project, catalogue, Cluster(2, 2), module, reach), 0)
    machine.start(Frame(0, module, None, 0), module.body, {})
    machine.site = 3
    imported = project.by_key(str(other))
    assert imported is not None
    made = imported.definitions["DEVICE"][0].node
    assert isinstance(made, ir.Call)
    machine.evaluate_statically(imported, made)
    assert machine.site == 3
