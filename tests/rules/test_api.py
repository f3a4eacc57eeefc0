"""What rules of the user's own can ask of a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.ir.positions import Locators
from distlint.analyzer.project.project import Project
from distlint.rules import api
from distlint.rules.api import Call, CannotFix, Script
from distlint.rules.base import composed
from distlint.source.document import Document
from distlint.source.edits import apply

SCRIPT = """\
import json
import torch.distributed as dist
from accelerate import Accelerator
from torch.distributed import barrier as wait
from torch.utils.data import DataLoader as Loader

rank = dist.get_rank()
size = 4
options = {"num_workers": 2}
accelerator = Accelerator()


def train(data, **more):
    loader = Loader(data, batch_size=size, shuffle=True, **options)
    for batch in loader:
        if rank == 0:
            print(accelerator.gather(batch))
        wait()
    Loader(data, 8, **more)


@accelerator.on_main_process
def report():
    json.dumps(
        1,  # one
    )
"""


def script(text: str = SCRIPT) -> Script:
    document = Document.of_text(text, Path("/nowhere/script.py"))
    project = Project(Path("/nowhere"))
    module = project.add(document)
    locators = Locators(project.read)
    locators.add(document)
    return Script(document, module, project.catalogue_of(module), locators)


def only(*names: str) -> Call:
    (call,) = script().calls_to(*names)
    return call


def test_what_is_exported_is_documented() -> None:
    for name in api.__all__:
        assert getattr(api, name).__doc__, name


def test_calls_go_by_their_real_names() -> None:
    calls = {call.name for call in script().calls}
    assert {"torch.distributed.barrier", "torch.utils.data.DataLoader", "json.dumps"} <= calls
    wait = only("torch.distributed.barrier")
    assert (wait.last_name, wait.text, wait.place.span.row) == ("wait", "wait()", 18)
    assert len(list(script().calls_to("torch.utils.data.DataLoader"))) == 2
    assert list(script().calls_to("torch.distributed.all_reduce")) == []


def test_collectives_are_those_of_the_catalogue() -> None:
    kinds = {call.last_name: call.collective for call in script().calls}
    assert kinds["gather"] == "all_gather"
    assert kinds["wait"] == "barrier"
    assert kinds["dumps"] is None
    assert {call.last_name for call in script().collectives} >= {"gather", "wait"}


def test_where_a_call_stands() -> None:
    wait = only("torch.distributed.barrier")
    assert (wait.function, wait.in_loop, wait.on_some_ranks) == ("train", True, False)
    gather = only("accelerate.Accelerator.gather")
    assert (gather.function, gather.in_loop, gather.on_some_ranks) == ("train", True, True)
    dumps = only("json.dumps")
    assert (dumps.function, dumps.in_loop, dumps.on_some_ranks) == ("report", False, True)
    rank = only("torch.distributed.get_rank")
    assert rank.function is None


def test_arguments() -> None:
    known, unknown = script().calls_to("torch.utils.data.DataLoader")
    assert known.argument("batch_size", 1).value == 4
    assert known.argument("shuffle").value is True
    assert known.argument("num_workers").value == 2
    assert known.argument("drop_last").absent
    assert not known.argument("dataset", 0).absent
    assert known.argument("dataset", 0).value is ...
    assert unknown.argument("batch_size", 1).value == 8
    assert not unknown.argument("drop_last").absent
    assert unknown.argument("drop_last").value is ...


def test_imports_and_text() -> None:
    assert script().imports("accelerate")
    assert not script().imports("deepspeed")
    assert script().text == SCRIPT
    assert script().path.name == "script.py"


def line(fix: api.Fix | None, row: int) -> str:
    assert fix is not None
    return apply(SCRIPT, fix.edits).splitlines()[row - 1]


def test_fixes() -> None:
    known, _ = script().calls_to("torch.utils.data.DataLoader")
    add = only("json.dumps").with_keyword("indent", "2", message="2", applicability="unsafe")
    assert line(add(), 26) == "        indent=2,"
    change = known.with_keyword("shuffle", "False", message="No", applicability="safe")()
    assert "shuffle=False" in line(change, 14)
    gone = known.without_keyword("shuffle", message="No", applicability="safe")()
    assert "Loader(data, batch_size=size, **options)" in line(gone, 14)
    other = only("torch.distributed.barrier").replaced(
        "monitored_barrier(None)",
        imports=("torch.distributed.monitored_barrier",),
        message="Say who is missing",
        applicability="displayonly",
    )()
    assert other is not None
    text = apply(SCRIPT, other.edits)
    assert "dist.monitored_barrier(None)" in text
    assert (other.applicability, other.message) == ("displayonly", "Say who is missing")


def test_a_fix_in_doubt_is_none() -> None:
    _, unknown = script().calls_to("torch.utils.data.DataLoader")
    with pytest.raises(CannotFix):
        unknown.with_keyword("drop_last", "True", message="x", applicability="safe")()
    keep = only("json.dumps").replaced("None", message="a comment would go", applicability="safe")
    assert composed(keep) is None
