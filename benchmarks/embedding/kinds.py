"""Kinds of bugs to plant, in the words of features, each with its correct twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.embedding.features import EVERY

PLAIN = frozenset({"ddp", "fsdp", "deepspeed"})
DDP_ONLY = frozenset({"ddp"})
SKIPS = frozenset({"ddp", "fsdp", "fabric"})

RUNNING = {
    "build": "@:running = 0.0",
    "epoch_start": "@:running = 0.0",
    "after_step": "@:running += loss.item()",
}
STOPPER = """
    class EarlyStopper:
        def __init__(self, patience=3):
            self.patience, self.best, self.bad = patience, float("inf"), 0

        def step(self, loss):
            if loss < self.best:
                self.best, self.bad = loss, 0
            else:
                self.bad += 1
            return self.bad >= self.patience
    """
TOTAL = "total = torch.tensor(@:running, device=@device)\n@sum(total)\n"
MEASURE = """
    def measure(model, loader, device):
        hits = torch.zeros(1, device=device)
        for inputs, targets in loader:
            hits += (model(inputs.to(device)).argmax(dim=1) == targets.to(device)).sum()
        dist.all_reduce(hits)
        return hits.item()
    """
STORE = """
    def store(module, path):
        torch.save(module.state_dict(), path)
        dist.barrier()
    """
WEIGHTS = 'os.path.join(@args.output, "weights.pt")'
OS = {"imports": "import os"}


@dataclass(frozen=True)
class Kind:
    """A bug: what it puts into slots, or changes in the text, and its correct twin."""

    name: str
    codes: tuple[str, ...]
    """What of the rules may report it, as beginnings of codes."""
    bad: Mapping[str, str] = field(default_factory=dict)
    good: Mapping[str, str] = field(default_factory=dict)
    kinds: frozenset[str] = EVERY
    change: tuple[tuple[str, str], ...] = ()
    """Texts of the trainer, and what the bug makes of them."""
    without: tuple[str, ...] = ()
    """Skeletons that have no place for it."""


def _stop(name: str, more: Mapping[str, str], test: str) -> Kind:
    """A stop at the end of an epoch; ``VALUE`` in the test is what it goes by."""
    common = {**RUNNING, **more}
    common["build"] = RUNNING["build"] + "\n" + more.get("build", "")
    bad = test.replace("VALUE", "@:running")
    good = TOTAL + test.replace("VALUE", "total.item()")
    return Kind(
        name, ("DST1",), {**common, "call_epoch": bad}, {**common, "call_epoch": good},
        without=("runner",),
    )  # fmt: skip


HANGS = (
    _stop(
        "early stop by a class",
        {"defs": STOPPER, "build": "@:stopper = EarlyStopper()"},
        "if @:stopper.step(VALUE):\n    break",
    ),
    _stop(
        "early stop by a counter",
        {"build": "@:lowest, @:waited = 1e9, 0"},
        "@:waited = 0 if VALUE < @:lowest else @:waited + 1\n"
        "@:lowest = min(@:lowest, VALUE)\nif @:waited > 3:\n    break",
    ),
    Kind(
        "best metric on rank 0",
        ("DST1",),
        {
            **RUNNING,
            "build": "@:running, @:top = 0.0, 0.0",
            "call_epoch": "score = 0.0\nif @main:\n    score = 1 / (1 + @:running)\n"
            "if score > @:top:\n    @:top = score\n    @wait",
        },
        {
            **RUNNING,
            "build": "@:running, @:top = 0.0, 0.0",
            "call_epoch": TOTAL + "score = 1 / (1 + total.item())\n"
            "if score > @:top:\n    @:top = score\n    @wait",
        },
    ),
    Kind(
        "barrier in a save that rank 0 alone calls",
        ("DST1",),
        {**OS, "defs": STORE, "call_epoch": f"if @main:\n    store(@raw, {WEIGHTS})"},
        {
            **OS,
            "defs": STORE.replace("        dist.barrier()\n", ""),
            "call_epoch": f"if @main:\n    store(@raw, {WEIGHTS})\n@wait",
        },
        DDP_ONLY,
    ),
    Kind(
        "skip on NaN",
        ("DST1",),
        {"after_forward": "if not torch.isfinite(loss):\n    @zero_grad\n    continue"},
        {
            "after_forward": "broken = (~torch.isfinite(loss.detach())).float()\n@sum(broken)\n"
            "if broken.item() > 0:\n    @zero_grad\n    continue"
        },
        SKIPS,
    ),
    Kind(
        "clock per rank",
        ("DST1",),
        {
            "imports": "import time",
            "build": "@:began = time.time()",
            "after_step": "if time.time() - @:began > 3600:\n    break",
        },
        {
            "imports": "import time",
            "build": "@:began = time.time()",
            "after_step": "late = float(time.time() - @:began > 3600)\n"
            "late = torch.tensor(late, device=@device)\n@sum(late)\nif late.item() > 0:\n    break",
        },
    ),
    Kind(
        "two reductions swapped",
        ("DST1",),
        {
            "call_epoch": "hits = torch.zeros(10, device=@device)\n"
            "seen = torch.zeros(1, device=@device)\nif @rank == 0:\n    dist.all_reduce(hits)\n"
            "    dist.all_reduce(seen)\nelse:\n    dist.all_reduce(seen)\n    dist.all_reduce(hits)"
        },
        {
            "call_epoch": "hits = torch.zeros(10, device=@device)\n"
            "seen = torch.zeros(1, device=@device)\ndist.all_reduce(hits)\ndist.all_reduce(seen)"
        },
        PLAIN,
    ),
    Kind(
        "group created under a rank test",
        ("DST1",),
        {"build": "if @rank < 2:\n    @:pair = dist.new_group([0, 1])"},
        {"build": "@:pair = dist.new_group([0, 1])"},
        PLAIN,
    ),
    Kind(
        "exit on rank 0",
        ("DST1",),
        {
            "imports": "import os\nimport sys",
            "setup": 'if @main and os.path.exists(os.path.join(@args.output, "done")):\n'
            "    sys.exit(0)",
        },
        {
            "imports": "import os\nimport sys",
            "setup": "if @main and not os.path.isdir(@args.data):\n"
            '    raise FileNotFoundError("no data")',
        },
    ),
    Kind(
        "evaluation with a reduction on rank 0",
        ("DST1",),
        {
            "defs": MEASURE,
            "call_epoch": "if @main:\n    print(measure(@raw, @val_loader, @device))",
        },
        {
            "defs": MEASURE,
            "call_epoch": "hits = measure(@raw, @val_loader, @device)\nif @main:\n    print(hits)",
        },
        DDP_ONLY,
    ),
    Kind(
        "forward of the wrapped model on rank 0",
        ("DST1",),
        {
            "call_epoch": "if @main:\n    for inputs, _ in @val_loader:\n"
            "        print(@model(inputs.to(@device)).mean())"
        },
        {
            "call_epoch": "if @main:\n    @raw.eval()\n    with torch.no_grad():\n"
            "        for inputs, _ in @val_loader:\n"
            "            print(@raw(inputs.to(@device)).mean())\n    @raw.train()"
        },
        DDP_ONLY,
    ),
    Kind(
        "loop bounded by a value of rank 0",
        ("DST1",),
        {
            **OS,
            "call_epoch": "parts = 0\nif @main:\n    parts = len(os.listdir(@args.output))\n"
            "for _ in range(parts):\n    @wait",
        },
        {
            **OS,
            "call_epoch": "parts = [0]\nif @main:\n    parts = [len(os.listdir(@args.output))]\n"
            "dist.broadcast_object_list(parts, src=0)\nfor _ in range(parts[0]):\n    @wait",
        },
        PLAIN,
    ),
    Kind(
        "return of other ranks before a reduction",
        ("DST1",),
        {
            "defs": "def publish(rank, loss):\n    if rank != 0:\n        return\n"
            "    dist.all_reduce(loss)\n    print(loss)",
            "after_step": "if step % 100 == 0:\n    publish(@rank, loss.detach().clone())",
        },
        {
            "defs": "def publish(rank, loss):\n    dist.all_reduce(loss)\n    if rank != 0:\n"
            "        return\n    print(loss)",
            "after_step": "if step % 100 == 0:\n    publish(@rank, loss.detach().clone())",
        },
        PLAIN,
    ),
    Kind(
        "barrier for the log of rank 0",
        ("DST1",),
        {"after_step": "if @main and step % 100 == 0:\n    @wait\n    print(loss.item())"},
        {"after_step": "if step % 100 == 0:\n    @wait\n    if @main:\n        print(loss.item())"},
    ),
    Kind(
        "step left out after out-of-memory",
        ("DST1", "DST308", "DST310", "DST311", "DST312"),
        change=(
            (
                "outputs = @model(inputs)",
                "try:\n    outputs = @model(inputs)\nexcept torch.cuda.OutOfMemoryError:\n"
                "    torch.cuda.empty_cache()\n    continue",
            ),
        ),
        kinds=SKIPS,
    ),
    Kind(
        "sharded weights on rank 0",
        ("DST1", "DST407"),
        {**OS, "call_epoch": f"if rank == 0:\n    torch.save(model.state_dict(), {WEIGHTS})"},
        {
            **OS,
            "call_epoch": "weights = get_model_state_dict(model, options=StateDictOptions("
            "full_state_dict=True, cpu_offload=True))\n"
            f"if rank == 0:\n    torch.save(weights, {WEIGHTS})",
        },
        frozenset({"fsdp"}),
    ),
)

OTHERS = (
    Kind(
        "prefix of the wrapper in a checkpoint",
        ("DST401",),
        {**OS, "call_epoch": f"if @main:\n    torch.save(@model.state_dict(), {WEIGHTS})"},
        {**OS, "call_epoch": f"if @main:\n    torch.save(@raw.state_dict(), {WEIGHTS})"},
        DDP_ONLY,
    ),
    Kind(
        "save on all ranks",
        ("DST4",),
        {**OS, "call_epoch": f"torch.save(@raw.state_dict(), {WEIGHTS})"},
        {**OS, "call_epoch": f"if @main:\n    torch.save(@raw.state_dict(), {WEIGHTS})"},
        DDP_ONLY,
    ),
    Kind(
        "folder made on all ranks",
        ("DST4",),
        {**OS, "setup": "if not os.path.exists(@args.output):\n    os.makedirs(@args.output)"},
        {**OS, "setup": "if @main:\n    os.makedirs(@args.output, exist_ok=True)\n@wait"},
    ),
    Kind(
        "download on all ranks",
        ("DST4",),
        {
            "imports": "from torchvision.datasets import CIFAR10",
            "setup": "extra = CIFAR10(@args.data, train=True, download=True)",
        },
        {
            "imports": "from torchvision.datasets import CIFAR10",
            "setup": "if @main:\n    CIFAR10(@args.data, train=True, download=True)\n@wait\n"
            "extra = CIFAR10(@args.data, train=True)",
        },
    ),
    Kind(
        "no map_location",
        ("DST4",),
        {
            **OS,
            "build": f"if os.path.exists({WEIGHTS}):\n"
            f"    @raw.load_state_dict(torch.load({WEIGHTS}, weights_only=True))",
        },
        {
            **OS,
            "build": f"if os.path.exists({WEIGHTS}):\n    @raw.load_state_dict("
            f'torch.load({WEIGHTS}, map_location="cpu", weights_only=True))',
        },
        DDP_ONLY,
    ),
    Kind("no set_epoch", ("DST203",), kinds=PLAIN, change=(("@set_epoch", "pass"),)),
    Kind(
        "no sampler at all",
        ("DST202",),
        kinds=PLAIN,
        change=(
            ("@set_epoch", "pass"),
            ("sampler=train_sampler,", "shuffle=True,"),
            (
                "train_sampler = DistributedSampler(train_set, shuffle=True, drop_last=True)",
                "train_sampler = None",
            ),
        ),
    ),
    Kind(
        "sampler made and not used",
        ("DST202",),
        kinds=PLAIN,
        change=(("sampler=train_sampler,", "shuffle=True,"),),
    ),
    Kind(
        "global rank as device",
        ("DST504",),
        kinds=PLAIN,
        change=(('os.environ["LOCAL_RANK"]', 'os.environ["RANK"]'),),
    ),
    Kind(
        "wrapper bypassed",
        ("DST6",),
        kinds=DDP_ONLY,
        change=(("outputs = @model(inputs)", "outputs = @raw(inputs)"),),
    ),
    Kind(
        "wrapper bypassed behind torch.compile",
        ("DST6",),
        {"build": "@:compiled = torch.compile(@model)"},
        {"build": "@:compiled = torch.compile(@model)"},
        DDP_ONLY,
        (("outputs = @model(inputs)", "outputs = @:compiled.module(inputs)"),),
    ),
    Kind(
        "optimizer before FSDP",
        ("DST6",),
        kinds=frozenset({"fsdp"}),
        change=(
            ("optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)", "pass"),
            (
                "model = FSDP(net, device_id=device, use_orig_params=True)",
                "optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr)\n"
                "model = FSDP(net, device_id=device)",
            ),
        ),
    ),
    Kind(
        "random split per rank",
        ("DST2",),
        {"dataset": "train_set, held_out = torch.utils.data.random_split(train_set, [0.9, 0.1])"},
        {
            "dataset": "train_set, held_out = torch.utils.data.random_split(\n"
            "    train_set, [0.9, 0.1], generator=torch.Generator().manual_seed(0)\n)"
        },
        DDP_ONLY,
    ),
    Kind(
        "scheduler stepped by the local loss",
        ("DST1", "DST6"),
        {
            **RUNNING,
            "build": "@:running = 0.0\n"
            "@:plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(@optimizer)",
            "call_epoch": "@:plateau.step(@:running)",
        },
        {
            **RUNNING,
            "build": "@:running = 0.0\n"
            "@:plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(@optimizer)",
            "call_epoch": TOTAL + "@:plateau.step(total.item())",
        },
        DDP_ONLY,
    ),
)

KINDS = {each.name: each for each in (*HANGS, *OTHERS)}
