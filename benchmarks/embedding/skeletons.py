"""Complete trainers with slots: ``#% NAME`` is where features and examples are put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NET = """
class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(32, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, classes)
        )

    def forward(self, inputs):
        return self.body(inputs)
"""

DATA = """
def make_dataset(path, train):
    payload = torch.load(f"{path}/{'train' if train else 'val'}.pt", weights_only=True)
    return TensorDataset(payload["inputs"], payload["targets"])
"""

PARSE = """
def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--output", default="runs")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    #% args
    args = parser.parse_args()
    #% validate
    return args
"""

LOADERS = """
train_set = make_dataset(@args.data, train=True)
val_set = make_dataset(@args.data, train=False)
#% dataset
train_sampler = DistributedSampler(train_set, shuffle=True, drop_last=True)
val_sampler = DistributedSampler(val_set, shuffle=False)
train_loader = DataLoader(
    train_set,
    batch_size=@args.batch_size,
    sampler=train_sampler,
    num_workers=4,
    pin_memory=True,
    drop_last=True,
    #% loader
)
val_loader = DataLoader(
    val_set, batch_size=@args.batch_size, sampler=val_sampler, num_workers=4, pin_memory=True
)
"""

PLAIN_LOADERS = """
train_set = make_dataset(@args.data, train=True)
val_set = make_dataset(@args.data, train=False)
#% dataset
train_loader = DataLoader(
    train_set,
    batch_size=@args.batch_size,
    shuffle=True,
    num_workers=4,
    pin_memory=True,
    drop_last=True,
    #% loader
)
val_loader = DataLoader(val_set, batch_size=@args.batch_size, num_workers=4, pin_memory=True)
"""

HEAD = """
import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
#% imports
"""

SETUP = """
def setup():
    dist.init_process_group(#backend#)
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)
"""


@dataclass(frozen=True)
class Skeleton:
    """A trainer. ``files`` are templates; ``main`` is the one that is started."""

    name: str
    kind: str
    """ddp, fsdp, accelerate, deepspeed or fabric: how a step is made and a checkpoint saved."""
    files: Mapping[str, str]
    where: str
    """The file whose loop calls what is embedded."""
    names: Mapping[str, str]
    """What ``@NAME`` in a feature stands for here."""
    main: str = "train.py"
    entry: str = ""
    """The call that starts it, which clean-up can be put around."""
    body_of_class: bool = False
    """Does the loop stand in a method?"""


PLAIN = {
    "model": "model", "net": "net", "optimizer": "optimizer", "loader": "train_loader",
    "val_loader": "val_loader", "sampler": "train_sampler", "args": "args", "rank": "rank",
    "world": "world_size", "device": "device", "epoch": "epoch", "v": "", "main": "rank == 0",
    "raw": "model.module", "set_epoch": "train_sampler.set_epoch(epoch)",
}  # fmt: skip


def names(**changes: str) -> Mapping[str, str]:
    return MappingProxyType({**PLAIN, **changes})


LOOP = """
#% build
#% call_before
for epoch in range(@first, @args.epochs):
    @set_epoch
    @model.train()
    #% epoch_start
    for step, (inputs, targets) in enumerate(@loader):
        #% step
    #% epoch_end
    #% call_epoch
#% finish
#% call_after
"""


def _loop(columns: int) -> str:
    return LOOP.replace("\n", "\n" + " " * columns).rstrip()


def _in(text: str, columns: int) -> str:
    return text.strip("\n").replace("\n", "\n" + " " * columns)


FUNCTIONS = Skeleton(
    "functions", "ddp",
    {"train.py": HEAD + "\n#% defs\n" + NET + DATA + SETUP + PARSE + f'''

def make_loaders(args):
    {_in(LOADERS, 4)}
    return train_loader, val_loader, train_sampler


def train_one_epoch(model, optimizer, train_loader, epoch, device, rank, world_size, args, state):
    model.train()
    #% epoch_start
    for step, (inputs, targets) in enumerate(train_loader):
        #% step


def main(args):
    device = setup()
    rank, world_size = dist.get_rank(), dist.get_world_size()
    #% setup
    train_loader, val_loader, train_sampler = make_loaders(args)
    net = Net(128, 10).to(device)
    #% wrap
    model = DDP(net, device_ids=[device.index])
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    state = SimpleNamespace(start_epoch=0)
    #% build
    #% call_before
    for epoch in range(state.start_epoch, args.epochs):
        train_sampler.set_epoch(epoch)
        train_one_epoch(
            model, optimizer, train_loader, epoch, device, rank, world_size, args, state
        )
        #% epoch_end
        #% call_epoch
    #% finish
    #% call_after


if __name__ == "__main__":
    #% entry
'''}, "train.py", names(v="state."), entry="main(parse_args())",
)  # fmt: skip

TRAINER = Skeleton(
    "trainer", "ddp",
    {
        "train.py": '''
import argparse
import os

import torch
import torch.distributed as dist

from data import make_loaders
from trainer import Trainer
''' + SETUP + PARSE + '''

def main(args):
    device = setup()
    train_loader, val_loader, train_sampler = make_loaders(args)
    trainer = Trainer(args, device, train_loader, val_loader, train_sampler)
    trainer.fit()


if __name__ == "__main__":
    #% entry
''',
        "data.py": '''
import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
#% data_imports

#% data_defs
''' + DATA + f'''

def make_loaders(args):
    {_in(LOADERS.replace("@args", "args"), 4)}
    return train_loader, val_loader, train_sampler
''',
        "trainer.py": '''
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
#% imports

#% defs
''' + NET + '''

class Trainer:
    def __init__(self, args, device, train_loader, val_loader, train_sampler):
        self.args = args
        self.device = device
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.train_sampler = train_sampler
        self.start_epoch = 0
        #% setup
        net = Net(128, 10).to(device)
        #% wrap
        self.model = DDP(net, device_ids=[device.index])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9)
        #% build

    def train_epoch(self, epoch):
        self.train_sampler.set_epoch(epoch)
        self.model.train()
        #% epoch_start
        for step, (inputs, targets) in enumerate(self.train_loader):
            #% step

    def fit(self):
        #% call_before
        for epoch in range(self.start_epoch, self.args.epochs):
            self.train_epoch(epoch)
            #% epoch_end
            #% call_epoch
        #% finish
        #% call_after

    #% methods
''',
    }, "trainer.py",
    names(model="self.model", optimizer="self.optimizer", loader="self.train_loader",
          val_loader="self.val_loader", sampler="self.train_sampler", args="self.args",
          rank="self.rank", world="self.world_size", device="self.device", v="self.",
          main="self.rank == 0", raw="self.model.module",
          set_epoch="self.train_sampler.set_epoch(epoch)"),
    entry="main(parse_args())", body_of_class=True,
)  # fmt: skip

MODULE = Skeleton(
    "module", "ddp",
    {"train.py": HEAD + "\n#% defs\n" + NET + DATA + PARSE + f'''

args = parse_args()
dist.init_process_group(#backend#)
rank = dist.get_rank()
world_size = dist.get_world_size()
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
device = torch.device("cuda", local_rank)
start_epoch = 0
#% setup
{LOADERS.strip()}
net = Net(128, 10).to(device)
#% wrap
model = DDP(net, device_ids=[local_rank])
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
{LOOP.strip()}
dist.destroy_process_group()
'''}, "train.py", names(),
)  # fmt: skip

ACCELERATE = Skeleton(
    "accelerate", "accelerate",
    {"train.py": HEAD.replace("from torch.nn.parallel import DistributedDataParallel as DDP\n", "")
        .replace("import torch\n", "import torch\nfrom accelerate import Accelerator\n", 1)
        .replace("DataLoader, DistributedSampler", "DataLoader")
        + "\n#% defs\n" + NET + DATA + PARSE + f'''

def main(args):
    accelerator = Accelerator()
    device = accelerator.device
    rank, world_size = accelerator.process_index, accelerator.num_processes
    start_epoch = 0
    #% setup
    {_in(PLAIN_LOADERS, 4)}
    net = Net(128, 10)
    #% wrap
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    model, optimizer, train_loader, val_loader = accelerator.prepare(
        net, optimizer, train_loader, val_loader
    )
    {_loop(4).strip()}
    accelerator.end_training()


if __name__ == "__main__":
    #% entry
'''}, "train.py",
    names(main="accelerator.is_main_process", raw="accelerator.unwrap_model(model)",
          set_epoch="train_loader.set_epoch(epoch)"),
    entry="main(parse_args())",
)  # fmt: skip

DEEPSPEED = Skeleton(
    "deepspeed", "deepspeed",
    {"train.py": HEAD.replace("from torch.nn.parallel import DistributedDataParallel as DDP\n", "")
        .replace("import torch\n", "import deepspeed\nimport torch\n", 1)
        + "\n#% defs\n" + NET + DATA + PARSE + f'''

def main(args):
    deepspeed.init_distributed()
    rank, world_size = dist.get_rank(), dist.get_world_size()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank)
    start_epoch = 0
    #% setup
    {_in(LOADERS, 4)}
    net = Net(128, 10)
    #% wrap
    model, optimizer, _, _ = deepspeed.initialize(
        model=net,
        model_parameters=net.parameters(),
        config={{
            "train_micro_batch_size_per_gpu": args.batch_size,
            "optimizer": {{"type": "AdamW", "params": {{"lr": args.lr}}}},
            "zero_optimization": {{"stage": 2}},
        }},
    )
    {_loop(4).strip()}


if __name__ == "__main__":
    #% entry
'''}, "train.py", names(), entry="main(parse_args())",
)  # fmt: skip

FSDP = Skeleton(
    "fsdp", "fsdp",
    {"train.py": HEAD.replace(
        "from torch.nn.parallel import DistributedDataParallel as DDP",
        "from torch.distributed.checkpoint.state_dict import StateDictOptions, "
        "get_model_state_dict\nfrom torch.distributed.fsdp import "
        "FullyShardedDataParallel as FSDP",
    ) + "\n#% defs\n" + NET + DATA + SETUP + PARSE + f'''

def main(args):
    device = setup()
    rank, world_size = dist.get_rank(), dist.get_world_size()
    start_epoch = 0
    #% setup
    {_in(LOADERS, 4)}
    net = Net(128, 10)
    #% wrap
    model = FSDP(net, device_id=device, use_orig_params=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    {_loop(4).strip()}


if __name__ == "__main__":
    #% entry
'''}, "train.py", names(), entry="main(parse_args())",
)  # fmt: skip

FABRIC = Skeleton(
    "fabric", "fabric",
    {"train.py": HEAD.replace("from torch.nn.parallel import DistributedDataParallel as DDP\n", "")
        .replace("import torch\n", "import torch\nfrom lightning.fabric import Fabric\n", 1)
        .replace("DataLoader, DistributedSampler", "DataLoader")
        + "\n#% defs\n" + NET + DATA + PARSE + f'''

def main(args):
    fabric = Fabric(accelerator="auto", devices="auto", strategy="ddp")
    fabric.launch()
    device = fabric.device
    rank, world_size = fabric.global_rank, fabric.world_size
    start_epoch = 0
    #% setup
    {_in(PLAIN_LOADERS, 4)}
    net = Net(128, 10)
    #% wrap
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    model, optimizer = fabric.setup(net, optimizer)
    train_loader, val_loader = fabric.setup_dataloaders(train_loader, val_loader)
    {_loop(4).strip()}


if __name__ == "__main__":
    #% entry
'''}, "train.py",
    names(main="fabric.is_global_zero", raw="model.module",
          set_epoch="train_loader.sampler.set_epoch(epoch)"),
    entry="main(parse_args())",
)  # fmt: skip

SPAWN = Skeleton(
    "spawn", "ddp",
    {"train.py": HEAD.replace(
        "import torch.nn.functional as F", "import torch.multiprocessing as mp\n"
        "import torch.nn.functional as F"
    ) + "\n#% defs\n" + NET + DATA + PARSE + f'''

def worker(rank, world_size, args):
    os.environ.setdefault("MASTER_ADDR", "localhost")
    dist.init_process_group(
        #backend#, init_method=f"tcp://localhost:{{args.port}}", rank=rank, world_size=world_size
    )
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    start_epoch = 0
    #% setup
    {_in(LOADERS, 4)}
    net = Net(128, 10).to(device)
    #% wrap
    model = DDP(net, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    {_loop(4).strip()}
    dist.destroy_process_group()


def main(args):
    world_size = torch.cuda.device_count()
    mp.spawn(worker, args=(world_size, args), nprocs=world_size)


if __name__ == "__main__":
    main(parse_args())
'''.replace('#% args', '#% args')}, "train.py", names(),
)  # fmt: skip

CONFIGURED = Skeleton(
    "configured", "ddp",
    {
        "train.py": HEAD.replace("import argparse\n", "").replace(
            "#% imports", "\nfrom config import Config, load_config\n#% imports"
        ) + "\n#% defs\n" + NET + DATA + SETUP + f'''

def build_model(cfg, device):
    net = Net(cfg.width, cfg.classes).to(device)
    #% wrap
    return DDP(net, device_ids=[device.index])


def build_loaders(cfg):
    {_in(LOADERS, 4)}
    return train_loader, val_loader, train_sampler


def run(cfg: Config):
    device = setup()
    rank, world_size = dist.get_rank(), dist.get_world_size()
    start_epoch = 0
    #% setup
    train_loader, val_loader, train_sampler = build_loaders(cfg)
    model = build_model(cfg, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    {_loop(4).strip()}


if __name__ == "__main__":
    #% entry
''',
        "config.py": '''
import json
import sys
from dataclasses import dataclass, field


@dataclass
class Config:
    data: str = "data"
    output: str = "runs"
    epochs: int = 10
    batch_size: int = 64
    lr: float = 0.1
    width: int = 128
    classes: int = 10
    #% fields


def load_config():
    with open(sys.argv[1]) as file:
        args = Config(**json.load(file))
    #% validate
    return args
''',
    }, "train.py", names(args="cfg"), entry="run(load_config())",
)  # fmt: skip

RUNNER = Skeleton(
    "runner", "ddp",
    {
        "train.py": HEAD + "\nfrom runner import Runner\n\n#% defs\n" + NET + DATA + SETUP + PARSE
        + f'''

class ImageRunner(Runner):
    def __init__(self, args):
        self.args = args
        self.device = setup()
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.start_epoch = 0
        #% setup
        args = self.args
        {_in(LOADERS, 8)}
        self.train_loader, self.val_loader = train_loader, val_loader
        self.train_sampler = train_sampler
        net = Net(128, 10).to(self.device)
        #% wrap
        self.model = DDP(net, device_ids=[self.device.index])
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9)
        #% build

    def before_training(self):
        #% call_before
        pass

    def run_epoch(self, epoch):
        self.train_sampler.set_epoch(epoch)
        self.model.train()
        #% epoch_start
        for step, (inputs, targets) in enumerate(self.train_loader):
            #% step

    def after_epoch(self, epoch):
        #% epoch_end
        #% call_epoch
        pass

    def after_training(self):
        #% finish
        #% call_after
        pass

    #% methods


def main(args):
    ImageRunner(args).run()


if __name__ == "__main__":
    #% entry
''',
        "runner.py": '''
class Runner:
    """Calls the hooks of a training in their order."""

    start_epoch = 0

    def before_training(self):
        pass

    def run_epoch(self, epoch):
        raise NotImplementedError

    def after_epoch(self, epoch):
        pass

    def after_training(self):
        pass

    def run(self):
        self.before_training()
        for epoch in range(self.start_epoch, self.args.epochs):
            self.run_epoch(epoch)
            self.after_epoch(epoch)
        self.after_training()
''',
    }, "train.py",
    TRAINER.names, entry="main(parse_args())", body_of_class=True,
)  # fmt: skip

SKELETONS = {
    each.name: each
    for each in (
        FUNCTIONS, TRAINER, MODULE, ACCELERATE, DEEPSPEED, FSDP, FABRIC, SPAWN, CONFIGURED, RUNNER,
    )
}  # fmt: skip
