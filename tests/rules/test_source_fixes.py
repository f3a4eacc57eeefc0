"""What the fixes of rules about one file's source make of it, and where none is offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.rules.registry import rules
from tests.rules.one_rule import asked, reported
from tests.support import fixes, repaired


def unchanged(source: str, code: str) -> None:
    """The rule speaks, and offers nothing."""
    assert reported(source, code), "nothing to repair: the test says nothing"
    assert repaired(source, preview=True, only=code) == source


RETRIED = """\
import torch
from accelerate.utils import find_executable_batch_size


def main(flag):
    model = torch.nn.Linear(2, 1)
    steps = torch.optim.SGD(model.parameters(), lr=0.1)

    @find_executable_batch_size(starting_batch_size=8)
    def train(batch_size):
        {inside}

    {behind}
"""


def retried(inside: str, behind: str) -> str:
    work = "model(torch.ones(batch_size, 2)).mean().backward()\nsteps.step()\n"
    return RETRIED.format(
        inside=(work + inside).replace("\n", "\n        ").rstrip(),
        behind=behind.replace("\n", "\n    ").rstrip(),
    )


@pytest.mark.parametrize(
    ("inside", "behind", "last", "call"),
    [
        ("", "train()\nprint(model)", "return model", "model = train()"),
        ("", "train()\nprint(steps, model)", "return model, steps", "model, steps = train()"),
        ("return 7", "size = train()\nprint(model)", "return 7, model", "size, model = train()"),
        ("return 7", "train()\nprint(model)", "return 7, model", "_, model = train()"),
        (
            "return 7, 8",
            "a, b = train()\nprint(model)",
            "return (7, 8), model",
            "(a, b), model = train()",
        ),
        (
            "if flag:\n    return\nprint(1)",
            "if flag:\n    train()\n    print(model)",
            "return model",
            "model = train()",
        ),
        (
            "if flag:\n    return 7",
            "size = train()\nprint(model)",
            "return None, model",
            "size, model = train()",
        ),
    ],
)
def test_what_is_needed_behind_a_retry_comes_back(
    inside: str, behind: str, last: str, call: str
) -> None:
    text = repaired(retried(inside, behind))
    function, _, rest = text.partition("def train(batch_size):")[2].partition("\n\n")
    assert function.splitlines()[-1].strip() == last
    assert (
        rest.strip().splitlines()[call.startswith("model = ") and "if flag" in behind].strip()
        == call
    )
    assert "return\n" not in function
    compile(text, "<text>", "exec")


@pytest.mark.parametrize(
    ("inside", "behind"),
    [
        pytest.param("", "print(model)\ntrain()", id="used before the call"),
        pytest.param("", "train()\ntrain()\nprint(model)", id="called twice"),
        pytest.param("", "for _ in range(2):\n    train()\n    print(model)", id="in a loop"),
        pytest.param("", "if flag:\n    train()\nprint(model)", id="used where nothing was called"),
        pytest.param("", "size = train()\nprint(model)", id="a result that is None"),
        pytest.param("", "print(train(), model)", id="a call inside something else"),
        pytest.param("", "train()\ndef later():\n    print(model)", id="used by a function"),
        pytest.param("return 7", "_ = train()\nprint(_, model)\ntrain()", id="called again"),
        pytest.param("del model", "train()\nprint(model)", id="given away inside"),
    ],
)
def test_nothing_is_moved_where_that_is_not_legal(inside: str, behind: str) -> None:
    unchanged(retried(inside, behind), "DST301")


def test_nothing_is_moved_behind_a_use_that_shares_a_line() -> None:
    (example,) = (e for e in rules()["DST301"].bad if "moments.append" in e.code)
    line = "accelerator.free_memory()\n        moments.append("
    unchanged(example.code.replace(line, "accelerator.free_memory(); moments.append("), "DST301")


STREAM = """\
import torch
from torch.utils.data import DataLoader, IterableDataset
from torch.nn.parallel import DistributedDataParallel as DDP


class Lines(IterableDataset):
    def __init__(self, paths):
        self.paths = paths
{body}

model = DDP(net)
loader = DataLoader(Lines(["a", "b"]), batch_size=4, num_workers=2)
for batch in loader:
    model(batch).mean().backward()
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "for line in open(self.paths[0]):\n        yield line.strip()",
            "for line in shard_iter(open(self.paths[0])):\n        yield line.strip()",
        ),
        ("yield from open(self.paths[0])", "yield from shard_iter(open(self.paths[0]))"),
        ("return iter(open(self.paths[0]))", "return iter(shard_iter(open(self.paths[0])))"),
        (
            "for i, line in enumerate(open(self.paths[0])):\n"
            "        if i > 9:\n            break\n        yield line",
            "for i, line in shard_iter(enumerate(open(self.paths[0]))):\n"
            "        if i > 9:\n            break\n        yield line",
        ),
    ],
)
def test_a_stream_is_divided(before: str, after: str) -> None:
    source = STREAM.format(body=_method(before))
    assert _method(after) in repaired(source)


@pytest.mark.parametrize(
    "body",
    [
        "for path in self.paths:\n        for line in open(path):\n            yield line",
        "yield 'head'\n    yield from open(self.paths[0])",
        "while True:\n        yield next(open(self.paths[0]))",
        "yield from open(self.paths[0])\n\ndef __len__(self):\n    return 9",
    ],
)
def test_a_stream_that_is_not_clear_is_left(body: str) -> None:
    unchanged(STREAM.format(body=_method(body)), "DST205")


def _method(body: str) -> str:
    lines = f"\ndef __iter__(self):\n    {body}".splitlines()
    return "\n".join(f"    {line}" if line else line for line in lines) + "\n"


DISTRIBUTED = """\
import os
import urllib.request
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

"""


@pytest.mark.parametrize(
    ("code", "body"),
    [
        pytest.param(
            "DST614",
            "model = DDP(net)\noutput = model(x)\nmodel.module.head.requires_grad_(True)\n"
            "output.sum().backward()\n",
            id="used between the wrap and the thaw",
        ),
        pytest.param(
            "DST614",
            "model = DDP(net)\nfor epoch in range(9):\n    if epoch == 5:\n"
            "        model.module.head.requires_grad_(True)\n    model(x).backward()\n",
            id="thawed after some epochs",
        ),
        pytest.param(
            "DST308",
            "model = DDP(net)\nloss = model(x)\nprint(loss)\nwith model.no_sync():\n"
            "    loss.backward()\n",
            id="something is done between forward and backward",
        ),
        pytest.param(
            "DST308",
            "import contextlib\nmodel = DDP(net)\nfor index, batch in enumerate(loader):\n"
            "    with model.no_sync() if index % 4 else contextlib.nullcontext():\n"
            "        loss = model(batch).mean() / 4\n        loss.backward()\n"
            "    if index % 4 == 0:\n        optimizer.step()\n        optimizer.zero_grad()\n",
            id="what is synchronised goes by the same count",
        ),
        pytest.param(
            "DST905",
            "import wandb\nwandb.init(project='a')\ndist.init_process_group('nccl')\n"
            "model = DDP(net)\n",
            id="the tracker begins before the processes meet",
        ),
        pytest.param(
            "DST406",
            "from accelerate import Accelerator\n\n\nclass Own:\n    def __init__(self, net):\n"
            "        torch.save(net, 'net.pt')\n        self.accelerator = Accelerator()\n"
            "        self.net = self.accelerator.prepare(net)\n",
            id="what knows the rank is made later",
        ),
        pytest.param(
            "DST415",
            "dist.init_process_group('nccl')\nurllib.request.urlretrieve('http://x/y', 'y.bin')\n",
            id="nobody looks for the file",
        ),
        pytest.param(
            "DST415",
            "from torchvision.datasets import MNIST\ndata = MNIST('data', download=True)\n"
            "dist.init_process_group('nccl')\nmodel = DDP(net)\n",
            id="the processes meet later",
        ),
        pytest.param(
            "DST415",
            "from torchvision.datasets import MNIST\n\n\ndef load():\n"
            "    return MNIST('data', download=True)\n\n\ndef main(rank):\n    data = load()\n"
            "    dist.init_process_group('nccl')\n    model = DDP(net)\n",
            id="the processes meet when the function has returned",
        ),
        pytest.param(
            "DST415",
            "import lightning as L\nfrom torchvision.datasets import MNIST\n"
            "data = MNIST('data', download=True)\nL.Trainer(devices=4).fit(model, data)\n",
            id="Lightning lets them meet later",
        ),
        pytest.param(
            "DST415",
            "from accelerate import Accelerator\nfrom torchvision.datasets import MNIST\n"
            "data = MNIST('data', download=True)\naccelerator = Accelerator()\n"
            "model = accelerator.prepare(net)\n",
            id="Accelerate lets them meet later",
        ),
        pytest.param(
            "DST602",
            "class Loss(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.softmax = torch.nn.Softmax(dim=1)\n\n    def forward(self, x):\n"
            "        return -torch.log(self.softmax(x)).mean()\n",
            id="a layer has no counterpart of that name",
        ),
        pytest.param(
            "DST409",
            "dist.init_process_group('nccl')\nmodel = DDP(net)\ntorch.save(model, 'm.pt')\n"
            "old = torch.load('m.pt', map_location='cpu')\n",
            id="loaded as an object",
        ),
    ],
)
def test_no_certain_repair(code: str, body: str) -> None:
    unchanged(DISTRIBUTED + body, code)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from accelerate import Accelerator\nfrom torchvision.datasets import CIFAR10\n"
            "accelerator = Accelerator()\ndata = CIFAR10('data', download=True)\n"
            "accelerator.print(data)\n",
            "from accelerate import Accelerator\nfrom torchvision.datasets import CIFAR10\n"
            "accelerator = Accelerator()\nwith accelerator.local_main_process_first():\n"
            "    data = CIFAR10('data', download=True)\naccelerator.print(data)\n",
            id="Accelerate's own order",
        ),
        pytest.param(
            "from accelerate import Accelerator\nimport torch\n"
            "accelerator = Accelerator()\n\n\ndef save(path):\n"
            "    if accelerator.is_main_process:\n        torch.save({}, path)\n"
            "    # all of them\n    return torch.load(path, map_location='cpu')\n",
            "from accelerate import Accelerator\nimport torch\n"
            "accelerator = Accelerator()\n\n\ndef save(path):\n"
            "    if accelerator.is_main_process:\n        torch.save({}, path)\n"
            "    accelerator.wait_for_everyone()\n"
            "    # all of them\n    return torch.load(path, map_location='cpu')\n",
            id="Accelerate's own barrier",
        ),
        pytest.param(
            "import os\nfrom torch.utils.data import DistributedSampler\n"
            "rank = int(os.environ['RANK'])\n"
            "sampler = DistributedSampler(d, seed=(args.seed + rank))\n",
            "import os\nfrom torch.utils.data import DistributedSampler\n"
            "rank = int(os.environ['RANK'])\n"
            "sampler = DistributedSampler(d, seed=args.seed)\n",
            id="the rank is taken out of a seed",
        ),
        pytest.param(
            DISTRIBUTED + "def save(state):\n    torch.save(state, 'a.pt')\n\n\n"
            "model = DDP(net)\nsave(model.module.state_dict())\n",
            DISTRIBUTED + "def save(state):\n"
            "    if not dist.is_initialized() or dist.get_rank() == 0:\n"
            "        torch.save(state, 'a.pt')\n\n\n"
            "model = DDP(net)\nsave(model.module.state_dict())\n",
            id="a guard that a run of one process passes",
        ),
    ],
)
def test_repaired(before: str, after: str) -> None:
    assert repaired(before) == after


def test_a_step_that_a_schedule_may_not_count_is_shown_only() -> None:
    example = next(e for e in rules()["DST308"].bad if e.title == "The last window of a loader")
    assert [fix.applicability for fix in fixes(example.code)] == ["displayonly"]
    assert repaired(example.code, preview=True) == example.code


STRIPPED = """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

net.load_state_dict({k.replace("module.", ""): v for k, v in torch.load("a.pt").items()})
model = DDP(net)
"""


@pytest.mark.parametrize(
    ("file", "text", "offered"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.8"\n', False),
        ("setup.py", "setup(python_requires='>=3.7,<4')\n", False),
        ("setup.py", "setup(python_requires=LOWEST)\n", True),
        ("setup.cfg", "[options]\npython_requires = >=3.9\n", True),
        ("setup.cfg", "[options]\ninstall_requires = torch\n", True),
    ],
)
def test_a_method_that_an_older_python_lacks(
    tmp_path: Path, file: str, text: str, offered: bool
) -> None:
    (tmp_path / file).write_text(text)
    found = asked(STRIPPED, "DST402", tmp_path / "train.py")
    assert [finding.fix is not None for finding in found] == [offered]


def test_the_library_keeps_its_own_retry_in_its_examples(tmp_path: Path) -> None:
    package = tmp_path / "src" / "accelerate"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (example,) = rules()["DST305"].bad
    for path, offered in ((tmp_path / "examples" / "a.py", False), (Path("/nowhere/a.py"), True)):
        (finding,) = asked(example.code, "DST305", path)
        assert (finding.fix is not None) == offered


def test_a_state_whose_names_are_known_is_nobodys_business() -> None:
    (example,) = rules()["DST403"].bad
    assert reported(example.code, "DST403")
    known = example.code.replace("fresh.load", "state['bias'] = state['bias'] * 2\nfresh.load")
    assert not reported(known, "DST403")


def test_no_guard_before_a_file_that_all_ranks_read_again() -> None:
    unchanged(
        DISTRIBUTED + "def finish(model, path):\n    torch.save(model.state_dict(), path)\n"
        "    model.load_state_dict(torch.load(path, map_location='cpu'))\n\n\n"
        "model = DDP(net)\nfinish(model.module, 'last.pt')\n",
        "DST406",
    )


def test_a_guard_goes_around_the_block_that_opens_the_file() -> None:
    opens = "with open('a.pt', 'wb') as file:\n"
    head = DISTRIBUTED + "dist.init_process_group('gloo')\n"
    after = repaired(head + opens + "    torch.save(net, file)\n", only="DST406")
    assert f"== 0:\n    {opens}        torch.save(net, file)\n" in after


@pytest.mark.parametrize(
    "body",
    [
        "with open('a.pt', 'wb') as file:\n    torch.save(net, file)\n    print('saved')\n",
        "file = open('a.pt', 'wb')\ntorch.save(net, file)\n",
    ],
)
def test_no_guard_where_the_others_would_still_empty_the_file(body: str) -> None:
    source = DISTRIBUTED + "dist.init_process_group('gloo')\n" + body
    assert reported(source, "DST406")
    unchanged(source, "DST406")


def test_an_accelerator_that_an_object_holds_tells_the_rank() -> None:
    source = (
        "import torch\nfrom accelerate import Accelerator\n\n\nclass Own:\n"
        "    def __init__(self, net):\n        self.accelerator = Accelerator()\n"
        "        torch.save(net, 'net.pt')\n        self.net = self.accelerator.prepare(net)\n"
    )
    after = repaired(source, preview=True, only="DST406")
    assert "        if self.accelerator.is_main_process:\n            torch.save(" in after


KEPT = """\
from accelerate import Accelerator

accelerator = Accelerator()
kept = []
for batch in loader:
    logits = model(batch)
    kept.append(accelerator.gather_for_metrics({what}))
"""


def test_a_batch_may_have_no_cpu() -> None:
    unchanged(KEPT.format(what="batch"), "DST312")
    assert "(logits).cpu())" in repaired(KEPT.format(what="logits"), preview=True)


CLIPPED = """\
import torch


def train(net, opt, loader, scaler=None):
    for batch in loader:
        loss = net(batch)
        if scaler is not None:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if scaler is not None:
            scaler.step(opt)
            scaler.update()
        else:
            opt.step()
"""


def test_unscaled_where_there_is_a_scaler() -> None:
    assert (
        "        if scaler is not None:\n            scaler.unscale_(opt)\n        norm = torch"
    ) in repaired(CLIPPED)


@pytest.mark.parametrize(
    "behind",
    [
        "        if norm > 9:\n            continue\n        if scaler is not None:",
        "        if last(batch):",
    ],
)
def test_not_unscaled_twice_before_a_step(behind: str) -> None:
    test = "        if scaler is not None:"
    source = CLIPPED.replace(f"0)\n{test}", f"0)\n{behind}")
    assert source != CLIPPED
    unchanged(source, "DST606")


def test_a_clip_behind_unscale_gradients_is_left() -> None:
    """Accelerate's own clip would unscale once more, which the scaler refuses."""
    unchanged(
        "import torch\nfrom accelerate import Accelerator\n\naccelerator = Accelerator()\n\n\n"
        "def step(model, loss):\n    accelerator.backward(loss)\n"
        "    accelerator.unscale_gradients()\n"
        "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
        "DST611",
    )


@pytest.mark.parametrize("test", ["accelerator is None", "not accelerator"])
def test_a_clip_in_runs_without_an_accelerator_is_left(test: str) -> None:
    unchanged(
        "import torch\nfrom accelerate import Accelerator\n\n"
        "accelerator = Accelerator() if several else None\n\n\n"
        f"def step(model, loss):\n    if {test}:\n        loss.backward()\n"
        "    else:\n        accelerator.backward(loss)\n"
        "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
        "DST611",
    )


@pytest.mark.parametrize(
    ("rank", "read"),
    [
        ("int(os.environ['RANK'])", 'int(os.environ["LOCAL_RANK"])'),
        ("int(os.environ.get('RANK', 0))", 'int(os.environ.get("LOCAL_RANK", 0))'),
        ("dist.get_rank() if many else 0", 'int(os.environ.get("LOCAL_RANK", 0))'),
    ],
)
def test_a_run_without_a_launcher_keeps_its_gpu(rank: str, read: str) -> None:
    source = "import os\nimport torch\nimport torch.distributed as dist\n\n"
    source += "dist.init_process_group('nccl')\n"
    source += f"rank = {rank}\ntorch.cuda.set_device(rank)\n"
    assert f"torch.cuda.set_device({read})" in repaired(source)


@pytest.mark.parametrize(
    ("reads", "number"),
    [
        ("local_rank = int(os.environ['LOCAL_RANK'])\n", "local_rank"),
        ("gpu = int(os.getenv('LOCAL_RANK', 0))\ngpu = 0\n", 'int(os.environ["LOCAL_RANK"])'),
        ("", 'int(os.environ["LOCAL_RANK"])'),
    ],
)
def test_the_local_rank_that_the_script_has_already(reads: str, number: str) -> None:
    before = (
        f"import os\nimport torch\nimport torch.distributed as dist\n{reads}"
        "rank = int(os.environ['RANK'])\ndist.init_process_group('nccl')\n"
        "torch.cuda.set_device({})\n"
    )
    assert repaired(before.format("rank"), only="DST504") == before.format(number)


@pytest.mark.parametrize(
    ("behind", "offered"),
    [
        ("print(folder)", True),
        ("dist.barrier()\nos.makedirs(folder)", True),
        ("if dist.get_rank() == 0:\n    os.makedirs(folder)", True),
        ("os.makedirs(folder)", False),
        ("other = folder\nos.makedirs(other)", False),
    ],
)
def test_a_folder_that_the_others_go_on_with_is_not_deleted_beside_them(
    behind: str, offered: bool
) -> None:
    source = "import os\nimport shutil\nimport torch.distributed as dist\n\n"
    source += "dist.init_process_group('gloo')\nfolder = os.environ['OUT']\n"
    source += f"shutil.rmtree(folder)\n{behind}\n"
    if offered:
        assert "if dist.get_rank() == 0:\n    shutil.rmtree(folder)" in repaired(
            source, preview=True, only="DST413"
        )
    else:
        unchanged(source, "DST413")


@pytest.mark.parametrize(
    "source",
    [
        DISTRIBUTED + "def main(path):\n    model = DDP(net)\n"
        "    if dist.is_initialized() and dist.get_rank() == 0:\n        print(model)\n"
        "    os.remove(path)\n",
        DISTRIBUTED + "from helpers import init_distributed_mode\n\n\ndef main(args):\n"
        "    init_distributed_mode(args)\n    model = DDP(net)\n    os.remove(args.path)\n",
    ],
    ids=["the script asks whether there is a group", "a helper that may make no group"],
)
def test_a_guard_holds_in_a_run_without_a_group(source: str) -> None:
    after = repaired("import os\n" + source, preview=True, only="DST413")
    assert "    if not dist.is_initialized() or dist.get_rank() == 0:\n        os.remove(" in after


@pytest.mark.parametrize("test", ["args.distributed", ""])
def test_a_model_that_may_be_bare_is_not_unwrapped(test: str) -> None:
    source = DISTRIBUTED + "model = load()\n"
    source += f"if {test}:\n    model = DDP(model)\n" if test else "model = DDP(model)\n"
    source += "width = model.width\n"
    if test:
        unchanged(source, "DST619")
    else:
        assert "width = model.module.width" in repaired(source, preview=True, only="DST619")
