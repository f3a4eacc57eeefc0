"""Rules about data and gradients: what they report beyond their examples, and what they let be."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.analyzer.project import Project
from distlint.rules.find import find
from distlint.source.document import Document
from tests.rules.test_source_rules import check, reported
from tests.support import fixes

SAMPLED = (
    "from torch.utils.data import DataLoader, DistributedSampler\n"
    "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    "sampler = DistributedSampler(data)\n"
    "loader = DataLoader(data, sampler=sampler)\n"
)
PLAIN = (
    "import torch\n"
    "from torch.utils.data import DataLoader\n"
    "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    "torch.distributed.init_process_group('nccl')\n"
    "model = DDP(net)\n"
)
EPOCHS = "for epoch in range(9):\n"
BATCHES = "    for batch in loader:\n        step(batch)\n"
FORGOTTEN = (
    "from torch.utils.data import DataLoader, DistributedSampler\n"
    "def make(data, other):\n"
    "    sampler = DistributedSampler(data)\n"
)
PREPARED = "from accelerate import Accelerator\naccelerator = Accelerator()\n"


@pytest.mark.parametrize(
    ("code", "source"),
    [
        # a loader class of the project's own, and a bar around it
        (
            "DST203",
            "from torch.utils.data import DataLoader, DistributedSampler\n"
            "class Mine(DataLoader):\n"
            "    def __init__(self, data):\n"
            "        sampler = DistributedSampler(data)  # expect: DST203\n"
            "        super().__init__(data, sampler=sampler)\n"
            "bar = tqdm(Mine(data))\n"
            "for epoch in range(9):\n"
            "    for batch in bar:\n"
            "        step(batch)\n",
        ),
        # the sampler for validation is told, the one for training is not
        (
            "DST203",
            "from torch.utils.data import DataLoader, DistributedSampler\n"
            "train_sampler = DistributedSampler(a)  # expect: DST203\n"
            "loader = DataLoader(a, sampler=train_sampler)\n"
            "val_sampler = DistributedSampler(b)\n"
            "val_loader = DataLoader(b, sampler=val_sampler)\n"
            "for epoch in range(9):\n"
            "    val_sampler.set_epoch(epoch)\n"
            "    for batch in loader:\n"
            "        step(batch)\n",
        ),
        # told one number for a first look at the data
        (
            "DST203",
            "from torch.utils.data import DataLoader, DistributedSampler\n"
            "sampler = DistributedSampler(data)  # expect: DST203\n"
            "loader = DataLoader(data, sampler=sampler)\n"
            "loader.sampler.set_epoch(-1)\n"
            "first = next(iter(loader))\n"
            "for epoch in range(9):\n"
            "    for batch in loader:\n"
            "        step(batch)\n",
        ),
        # an iterator that a class of the script makes in each epoch
        (
            "DST203",
            "from torch.utils.data import DataLoader, DistributedSampler\n"
            "class Prefetcher:\n"
            "    def __init__(self, loader):\n"
            "        self.batches = iter(loader)\n"
            "sampler = DistributedSampler(data)  # expect: DST203\n"
            "loader = DataLoader(data, sampler=sampler)\n"
            "for epoch in range(9):\n"
            "    batches = Prefetcher(loader)\n"
            "    step(batches)\n",
        ),
        # a sampler that is made, told the epoch, and given to nobody
        (
            "DST202",
            "from torch.utils.data import DataLoader, DistributedSampler\n"
            "def loaders(data, many):\n"
            "    sampler = DistributedSampler(data) if many else None\n"
            "    loader = DataLoader(data, 4, shuffle=sampler is None)  # expect: DST202\n"
            "    return loader, sampler\n",
        ),
        ("DST206", PLAIN + "DataLoader(d, prefetch_factor=4, num_workers=0)  # expect: DST206\n"),
        (
            "DST201",
            "from accelerate.utils import DataLoaderConfiguration\n"
            "from torch.utils.data import DataLoader\n"
            + PREPARED
            + "c = DataLoaderConfiguration(even_batches=False)\n"
            "train = DataLoader(d, batch_size=4, shuffle=True)  # expect: DST201\n"
            "train = accelerator.prepare(train)\n"
            "for batch in train:\n"
            "    accelerator.backward(model(batch))\n",
        ),
        (
            "DST211",
            "import os\nfrom torch.utils.data import DistributedSampler\n"
            "seed = 3 + int(os.environ['RANK'])\n"
            "sampler = DistributedSampler(d, seed=seed)  # expect: DST211\n",
        ),
        (
            "DST213",
            "from torch.utils.data import DataLoader\n"
            "from datasets.distributed import split_dataset_by_node\n"
            + PREPARED
            + "part = split_dataset_by_node(d, rank=accelerator.process_index, world_size=2)\n"
            "loader = accelerator.prepare(DataLoader(part.map(f)))  # expect: DST213\n",
        ),
        (
            "DST613",
            PREPARED + "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "net = accelerator.prepare(net)\n"
            "net = net.module if isinstance(net, DDP) else net\n"
            "loss = net(x)  # expect: DST613\n"
            "loss.backward()\n",
        ),
        (
            "DST613",
            PLAIN + "core = model.module\n"
            "for x in xs:\n"
            "    enc = core.encode(x)  # expect: DST613\n"
            "    out = core.decode(enc)\n"
            "    loss = f(out)\n"
            "    loss.backward()\n",
        ),
        (
            "DST616",
            "import torch\n"
            "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
            "def main(net):\n"
            "    net = net.cuda()\n"
            "    opt = torch.optim.AdamW(net.parameters())  # expect: DST616\n"
            "    net = FSDP(net)\n",
        ),
    ],
)
def test_reported(code: str, source: str) -> None:
    check(source, code)


@pytest.mark.parametrize(
    ("code", "source"),
    [
        # handed to another file, which may tell the sampler
        (
            "DST203",
            SAMPLED + "from mine import train\nfor epoch in range(9):\n    train(loader, epoch)\n",
        ),
        # one epoch; folds, each with a sampler of its own
        ("DST203", SAMPLED + "for epoch in range(1):\n    for b in loader:\n        step(b)\n"),
        (
            "DST203",
            "from torch.utils.data import DataLoader, DistributedSampler\n"
            "for fold in folds:\n"
            "    loader = DataLoader(fold, sampler=DistributedSampler(fold))\n"
            "    for batch in loader:\n"
            "        step(batch)\n",
        ),
        # the sampler decides, in a variable
        (
            "DST204",
            SAMPLED + "shuffle = sampler is None\n"
            "DataLoader(data, shuffle=shuffle, sampler=sampler)\n",
        ),
        (
            "DST204",
            "from torch.utils.data import DataLoader\n"
            "def make(d, sampler=None, batches=None):\n"
            "    sampler = None if batches else pick(d)\n"
            "    return DataLoader(d, sampler=sampler, batch_sampler=batches)\n",
        ),
        # not known to be 0
        ("DST206", PLAIN + "DataLoader(d, persistent_workers=True, num_workers=args.workers)\n"),
        ("DST206", PLAIN + "DataLoader(d, persistent_workers=True, **options)\n"),
        # handed on, or divided by something the file mentions
        (
            "DST202",
            PLAIN + "from mine import fit\nfit(DataLoader(d, shuffle=True))\nloss.backward()\n",
        ),
        (
            "DST202",
            PLAIN + "d = wds.WebDataset(urls)\n"
            "for b in DataLoader(d):\n    model(b).backward()\n",
        ),
        # only where there is one process
        (
            "DST202",
            PLAIN + "if not distributed:\n"
            "    for b in DataLoader(d, shuffle=True):\n        model(b).backward()\n",
        ),
        # a seed that is the rank's on purpose; an order that is no data set
        (
            "DST212",
            PLAIN + "import random\nrandom.shuffle(colours)\nprint(colours)\n",
        ),
        (
            "DST212",
            PLAIN + "from torch.utils.data import random_split\n"
            "torch.manual_seed(0)\na, b = random_split(d, [1, 2])\n",
        ),
        # dispatched by one process
        (
            "DST213",
            SAMPLED + PREPARED + "dispatch_batches = True\naccelerator.prepare(loader)\n",
        ),
        # the function that is called unscales
        (
            "DST606",
            "import torch\n"
            "def unscale(scaler, opt):\n    scaler.unscale_(opt)\n"
            "def step(scaler, opt, loss, net):\n"
            "    scaler.scale(loss).backward()\n"
            "    unscale(scaler, opt)\n"
            "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
            "    scaler.step(opt)\n",
        ),
        # the wrapper is called in the same step; the module gives attributes; nothing is trained
        (
            "DST613",
            PLAIN + "out = model(x)\nloss = model.module.loss(out)\nloss.backward()\n",
        ),
        ("DST613", PLAIN + "loss = model(x) + model.module.config.weight\nloss.backward()\n"),
        (
            "DST613",
            PLAIN + "def validate(x):\n    loss = model.module(x)\n    loss.backward()\n",
        ),
        # a number is asked for; taken out of the wrapper only when training is over
        (
            "DST613",
            PLAIN + "count = model.module.vision.get_num_patches()\n"
            "for x in loader:\n    loss = run(x, model, patches=count)\n    loss.backward()\n",
        ),
        (
            "DST613",
            PREPARED + "class Trainer:\n"
            "    def __init__(self, net):\n"
            "        self.net = net\n"
            "        self.net = accelerator.prepare(self.net)\n"
            "    def train(self, loader):\n"
            "        for x in loader:\n"
            "            loss = self.net(x)\n"
            "            loss.backward()\n"
            "        self.net = accelerator.unwrap_model(self.net)\n",
        ),
        # the model is asked whether its names have the prefix
        (
            "DST402",
            PLAIN + "state = torch.load('a.pt')\n"
            "if not any(k.startswith('module.') for k in model.state_dict()):\n"
            "    state = {k.removeprefix('module.'): v for k, v in state.items()}\n"
            "model.load_state_dict(state)\n",
        ),
        # parameters that FSDP keeps; an optimizer that is made again
        (
            "DST616",
            "import torch\n"
            "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
            "opt = torch.optim.AdamW(net.parameters())\n"
            "net = FSDP(net, use_orig_params=True)\n",
        ),
        (
            "DST616",
            "import torch\n"
            "from torch.distributed.fsdp import fully_shard\n"
            "opt = torch.optim.AdamW(net.parameters())\n"
            "fully_shard(net)\n"
            "opt = torch.optim.AdamW(net.parameters())\n",
        ),
        # clipped at the end of the window, by another name
        (
            "DST615",
            "import torch\n"
            "for i, b in enumerate(bs):\n"
            "    net(b).backward()\n"
            "    last = (i + 1) % 4 == 0\n"
            "    if last_micro_batch:\n"
            "        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
            "    if (i + 1) % 4 == 0:\n"
            "        optimizer.step()\n",
        ),
        # told through the loader, or perhaps
        ("DST203", SAMPLED + EPOCHS + "    loader.sampler.set_epoch(epoch)\n" + BATCHES),
        ("DST203", SAMPLED + EPOCHS + "    held[0].set_epoch(epoch)\n" + BATCHES),
        # the sampler has another loader, or other data, or goes to somebody
        ("DST202", SAMPLED + "plain = DataLoader(data)\n"),
        ("DST202", FORGOTTEN + "    loader = DataLoader(other)\n"),
        ("DST202", FORGOTTEN + "    loader = DataLoader(data)\n    mine(sampler)\n"),
        ("DST202", FORGOTTEN + "    val_loader = DataLoader(data)\n"),
        # nothing is summed
        (
            "DST617",
            SAMPLED + "def evaluate(model):\n    bound = 0\n"
            "    for b in loader:\n        model(b)\n"
            "    return bound / len(loader.dataset)\n",
        ),
        # cut to the number of samples
        (
            "DST617",
            PREPARED + "def evaluate(model, loader):\n"
            "    for b in loader:\n"
            "        preds.append(accelerator.gather(model(b)))\n"
            "    return torch.cat(preds)[: len(loader.dataset)]\n",
        ),
    ],
)  # fmt: skip
def test_silent(code: str, source: str) -> None:
    assert reported(source, code) == []


def test_a_training_function_of_another_file_is_looked_into(tmp_path: Path) -> None:
    """It goes through the loader in each epoch, and tells the sampler nothing, or does."""
    script = tmp_path / "script.py"
    script.write_text(
        "from torch.utils.data import DataLoader, DistributedSampler\n"
        "from engine import train_one_epoch\n"
        "sampler = DistributedSampler(data)\n"
        "loader = DataLoader(data, sampler=sampler)\n"
        "for epoch in range(9):\n"
        "    train_one_epoch(model, loader)\n"
    )
    engine = "def train_one_epoch(model, loader):\n    {}\n    for batch in loader:\n"
    engine += "        model(batch).backward()\n"
    scaled = engine.replace("model(batch).backward()", "scaler(model(batch)); model.zero_grad()")
    for text, told, expected in (
        (engine, "pass", ["DST203"]),
        (engine, "loader.sampler.set_epoch(9)", []),
        (scaled, "pass", ["DST203"]),
    ):
        (tmp_path / "engine.py").write_text(text.format(told))
        document = Document.read(script)
        found = find(document, Project(tmp_path)).findings
        assert [each.code for each in found if each.code == "DST203"] == expected


def test_a_script_beside_it_hands_each_rank_its_part(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "from torch.utils.data import DataLoader\n"
        "class Loop:\n"
        "    def __init__(self, net, data):\n"
        "        self.net, self.data = DDP(net), data\n"
        "    def run(self):\n"
        "        for batch in DataLoader(self.data, batch_size=8):\n"
        "            self.net(batch).sum().backward()\n"
    )
    for data, expected in (("data.shard(size, rank)", []), ("data", ["DST202"])):
        (tmp_path / "main.py").write_text(f"from loop import Loop\nLoop(net, {data}).run()\n")
        found = find(Document.read(script), Project(tmp_path)).findings
        assert [each.code for each in found if each.code == "DST202"] == expected


def test_a_trainer_of_the_project_seeds_what_its_heirs_draw(tmp_path: Path) -> None:
    """Where its base, in another file, is a Trainer of transformers."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "import transformers\n"
        "from accelerate import Accelerator\n"
        "from base import Base\n"
        "class Probing(Base):\n"
        "    def probe(self, data):\n"
        "        return data.select(np.random.choice(len(data), size=(9,)))\n"
    )
    for base, expected in (("Trainer", []), ("object", ["DST212"])):
        text = f"from transformers import Trainer\nclass Base({base}):\n    pass\n"
        (tmp_path / "base.py").write_text(text)
        found = find(Document.read(script), Project(tmp_path)).findings
        assert [each.code for each in found if each.code == "DST212"] == expected


def test_a_loader_that_may_keep_its_last_batch_is_left_alone() -> None:
    source = (
        SAMPLED + "train = DataLoader(data, batch_size=4, sampler=sampler)\n"
        "for batch in train:\n"
        "    model(batch).backward()\n"
    )
    (shown,) = [fix for fix in fixes(source) if "last batch" in fix.message]
    assert shown.applicability == "displayonly"
