"""What findings about the source say beyond their lines, and texts that are made by a loop.

Which lines a rule reports is in ``cases/``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distlint.rules.base import Rule
from distlint.rules.registry import rules
from distlint.source.finding import Severity
from distlint.source.nesting import MAX_BRANCHES
from tests.rules.one_rule import asked, reported
from tests.support import fixes, found_in

HEAD = "import torch\nimport torch.distributed as dist\n\n"


def test_the_severity_says_which_kind_it_is() -> None:
    source = (
        HEAD
        + "def f(x):\n    y = dist.all_reduce(x)\n    return y + 1\n\n"
        + "def g(x):\n    dist.reduce(x, 0)\n    print(x.item())\n"
    )
    found = asked(source, "DST118")
    assert [finding.severity for finding in found] == [Severity.ERROR, Severity.WARNING]


@pytest.mark.campaign
def test_a_long_chain_of_branches() -> None:
    """Each branch is several calls deep for what recurses; positions are not asked for."""
    chain = "".join(f"    elif k == {n}:\n        y = {n}\n" for n in range(1, MAX_BRANCHES - 1))
    source = (
        HEAD
        + "def f(x, k):\n    dist.all_reduce(x, async_op=True)\n    w = dist.all_reduce(x)\n"
        + f"    dist.reduce(x, 0)\n    if k == 0:\n        y = 0\n{chain}    return k\n"
    )
    assert reported(source, "DST118") == reported(source, "DST119") == []


@pytest.mark.parametrize(
    "rule", [rule for rule in rules().values() if "The file is a test" in rule.documentation()]
)
def test_what_a_rule_passes_over_in_a_test(rule: type[Rule]) -> None:
    for example in rule.bad:
        assert rule.code in {finding.code for finding in found_in(example.code)}
        test = f"{example.code}\n\ndef test_nothing():\n    pass\n"
        assert rule.code not in {f.code for f in found_in(test, "test_script.py")}


UNWRAPPED = """\
from accelerate import Accelerator

import helpers


def train(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    (model,) = helpers.without_ddp([model])
    for batch in loader:
        with accelerator.autocast():
            guess = model(batch)
        accelerator.backward(guess.mean())
"""


def test_the_line_that_takes_the_model_out_is_related(tmp_path: Path) -> None:
    taken = "[m.module if isinstance(m, DDP) else m for m in models]"
    (tmp_path / "helpers.py").write_text(f"def without_ddp(models):\n    return {taken}\n")
    (tmp_path / "script.py").write_text(UNWRAPPED)
    (found,) = asked(UNWRAPPED, "DST613", tmp_path / "script.py")
    assert found.place.span.row == 12
    assert [r.place.span.row for r in found.related if "unwrapped" in r.message] == [9]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("loss = model(batch).mean()", "", True),
        ("loss = model(batch).mean() / n", "", False),
        ("loss = model(batch).mean()", "loss /= n", False),
        ("loss = model(batch).sum()", "", False),
        ("part = model(batch) / n\n    loss = part.mean()", "", False),
    ],
)
def test_a_loss_that_nothing_divides(before: str, after: str, found: bool) -> None:
    source = (
        "for index, batch in enumerate(loader, 1):\n"
        f"    {before}\n"
        f"    {after or 'pass'}\n"
        "    loss.backward()\n"
        "    if index % n == 0 or index == len(loader):\n"
        "        optimizer.step()\n"
        "        optimizer.zero_grad()\n"
    )
    told = [each for each in asked(source, "DST308") if "not divided" in each.message]
    assert bool(told) is found
    assert all(each.preview for each in told)


@pytest.mark.parametrize(("trainer", "preview"), [("Trainer", True), ("Fabric", False)])
def test_lightning_starts_the_other_processes_behind_a_removal(trainer: str, preview: bool) -> None:
    source = (
        f"import os\nimport shutil\nfrom lightning import {trainer}\n\n\n"
        f"def main(net):\n    runner = {trainer}(devices=4)\n"
        "    if os.path.isdir('old'):\n        shutil.rmtree('old')\n"
        "    runner.fit(net)\n\n\nmain(net)\n"
    )
    (finding,) = asked(source, "DST413")
    assert finding.preview is preview


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("scores.softmax(dim=1)", True),
        ("scores.softmax(-1)", True),
        ("self.softmax(scores)", False),
    ],
)
def test_a_softmax_of_the_file_s_own_may_be_another(call: str, found: bool) -> None:
    source = HEAD + (
        "class Loss(torch.nn.Module):\n"
        "    def softmax(self, scores):\n"
        "        return scores.softmax(1).clamp(min=1e-6)\n\n"
        "    def forward(self, scores):\n"
        f"        return -torch.log({call}).mean()\n"
    )
    assert bool(reported(source, "DST602")) is found
    assert bool(fixes(source, code="DST602")) is found


STEPS = (
    HEAD + "from torch.utils.data import DataLoader, DistributedSampler\n\n"
    "order = DistributedSampler(data)\nloader = DataLoader(data, sampler=order)\n"
    "turns = iter(loader)\nfor step in range(900):\n    try:\n        batch = next(turns)\n"
    "    except StopIteration:\n        turns = iter(loader)\n        batch = next(turns)\n"
    "    train(batch)\n"
)
EPOCHS = STEPS.replace("    try:\n        batch = next(turns)\n", "").replace(
    "    except StopIteration:\n        turns = iter(loader)\n        batch",
    "    turns = iter(loader)\n    batch",
)


@pytest.mark.parametrize(
    ("source", "said", "related"),
    [
        (STEPS, "every pass has the same order", "loop over steps"),
        (EPOCHS, "every epoch has the same order", "loop over epochs"),
    ],
)
def test_a_loop_over_steps_is_not_called_one_over_epochs(
    source: str, said: str, related: str
) -> None:
    (finding,) = asked(source, "DST203")
    assert said in finding.message
    assert finding.related[0].message == related


def test_a_script_that_tells_its_launcher_the_port_is_for_preview() -> None:
    source = (
        "import os\nimport subprocess\n\nos.environ['MASTER_PORT'] = '29504'\n"
        "if 'LOCAL_RANK' not in os.environ:\n"
        "    subprocess.run(['torchrun', '--master_port', '29504', __file__])\n"
    )
    assert [found.preview for found in asked(source, "DST506")] == [True]
    unknown = source.replace("'--master_port', '29504', ", "")
    assert [found.preview for found in asked(unknown, "DST506")] == [False]


def test_a_script_among_the_tests_runs_on_one_node(tmp_path: Path) -> None:
    source = HEAD + "dist.init_process_group('nccl')\ntorch.cuda.set_device(dist.get_rank())\n"
    root = tmp_path / "tests"  # of this name is the repository itself, perhaps
    folder = root / "tests" / "launched"
    folder.mkdir(parents=True)
    (root / ".git").mkdir()
    assert asked(source, "DST504", folder / "run.py") == []
    assert len(asked(source, "DST504", root / "run.py")) == 1


def test_a_gpu_by_its_number_leaves_the_first_one_to_what_has_none() -> None:
    source = HEAD + "from torch.multiprocessing import spawn\n\n\ndef run(rank, world):\n"
    source += "    dist.init_process_group('nccl', rank=rank, world_size=world)\n"
    source += "    net.to(rank)\n    dist.barrier()\n\n\nspawn(run)\n"
    (found,) = asked(source, "DST502")
    assert found.explanation is not None
    assert "barrier()" in found.explanation.effect
    (found,) = asked(source.replace("to(rank)", "cuda()"), "DST502")
    assert found.explanation is not None
    assert "Duplicate GPU" in found.explanation.effect


def test_a_gpu_by_its_number_may_be_written_in_two_parts() -> None:
    source = HEAD + "from torch.multiprocessing import spawn\n\n\ndef run(rank, world):\n"
    source += "    dist.init_process_group('nccl', rank=rank, world_size=world)\n"
    source += "    device = torch.device('cuda', rank)\n\n\nspawn(run)\n"
    (found,) = asked(source, "DST502")
    assert found.explanation is not None
    assert "barrier()" in found.explanation.effect


@pytest.mark.parametrize(
    ("work", "severity"),
    [
        ("convert(1)", "warning"),
        ("Worker().convert(1)", "warning"),
        ("elsewhere(1)", "info"),
        ("elsewhere(1)\n    dist.barrier()", "warning"),
        ("dist.barrier()\n    elsewhere(1)", "info"),
    ],
)
def test_a_barrier_in_a_finally_is_a_warning_where_others_are_seen_to_wait(
    work: str, severity: str
) -> None:
    source = (
        "import torch\nimport torch.distributed as dist\nfrom project import elsewhere\n\n\n"
        "def convert(item):\n    dist.all_reduce(torch.ones(1))\n\n\n"
        "class Worker:\n    def convert(self, item):\n        convert(item)\n\n\n"
        f"dist.init_process_group('gloo')\ntry:\n    {work}\nfinally:\n    dist.barrier()\n"
    )
    found = asked(source, "DST510")
    assert [each.severity.value for each in found] == [severity]


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("if rank == 0:", False),
        ("if rank in (-1, 0) and folder:", False),
        ("if rank == -1:", False),
        ("if rank != -1:", True),
        ("if rank >= 0 and folder:", True),
        ("if rank == -1 or not folder:\n        pass\n    else:", True),
        ("if rank > 0:\n        pass\n    else:", False),
        ("if folder:", True),
    ],
)
@pytest.mark.parametrize("caller", [False, True])
def test_a_folder_of_one_rank_is_reported_where_the_others_come(
    test: str, found: bool, caller: bool
) -> None:
    body = [
        "if rank in (-1, 0):",
        "    os.makedirs(folder)",
        'with open(folder + "/a", "w") as out:',
    ]
    inside = ["pass"] if caller else [*body, "    pass"]
    lines = ["def save(rank, folder):", *body, "    pass"] if caller else []
    lines[1:] = [" " * 4 + line for line in lines[1:]]
    lines += ["", "def main(rank, folder):", f"    {test}"]
    lines += [" " * 8 + line for line in (["save(rank, folder)"] if caller else inside)]
    source = "import os\n\n" + HEAD + "\n".join(lines) + "\n"
    assert bool(reported(source, "DST408")) is found


@pytest.mark.parametrize(("name", "found"), [("train.py", True), ("train.ipynb", False)])
def test_one_process_runs_a_notebook_until_it_forks_others(name: str, found: bool) -> None:
    code = (
        "import lightning as L\nfrom torchvision.datasets import VOCDetection\n"
        "data = VOCDetection('voc', download=True)\n"
        "L.Trainer(devices='auto', accelerator='gpu', strategy='ddp').fit(net, data)\n"
    )
    if name.endswith(".ipynb"):
        cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": []}
        code = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert bool(asked(code, "DST415", Path(name))) is found
