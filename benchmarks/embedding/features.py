"""Ordinary parts of a trainer that can be switched on, all of them correct.

In their text ``@NAME`` is what the skeleton calls a thing, ``@:NAME`` a variable that lives as long
as the training, and ``@sum(x)``, ``@save(path)``, ``@load(path)`` and ``@wait`` are done as the
framework of the skeleton has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

EVERY = frozenset({"ddp", "fsdp", "accelerate", "deepspeed", "fabric"})
WHOLE_STEP = frozenset({"ddp"})
UNSHARDED = frozenset({"ddp", "fabric"})


@dataclass(frozen=True)
class Feature:
    """What a feature puts into the slots of a skeleton."""

    name: str
    slots: Mapping[str, str] = field(default_factory=dict)
    args: tuple[tuple[str, str, str], ...] = ()
    """Name, type and default of the options that it adds."""
    kinds: frozenset[str] = EVERY
    requires: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


FEATURES = {
    each.name: each
    for each in (
        Feature(
            "log",
            {
                "defs": "logger = logging.getLogger(__name__)",
                "after_step": """
                    if @main and step % @args.log_every == 0:
                        logger.info("epoch %d step %d loss %.4f", @epoch, step, loss.item())
                    """,
            },
            (("log_every", "int", "50"),),
            imports=("import logging",),
        ),
        Feature(
            "progress_bar",
            {
                "epoch_start": "@:bar = tqdm(total=len(@loader), disable=not (@main))",
                "after_step": "@:bar.update(1)",
                "epoch_end": "@:bar.close()",
            },
            imports=("from tqdm import tqdm",),
        ),
        Feature(
            "evaluate",
            {
                "defs": """
                    @torch.no_grad()
                    def evaluate(@ctxmodel, loader, device):
                        model.eval()
                        counts = torch.zeros(2, device=device)
                        for inputs, targets in loader:
                            predicted = model(inputs.to(device)).argmax(dim=1)
                            counts[0] += (predicted == targets.to(device)).sum()
                            counts[1] += targets.numel()
                        @sum(counts)
                        model.train()
                        return (counts[0] / counts[1]).item()
                    """,
                "epoch_end": """
                    @:accuracy = evaluate(@ctx@model, @val_loader, @device)
                    if @main:
                        print(f"epoch {@epoch}: accuracy {@:accuracy:.4f}")
                    """,
            },
        ),
        Feature(
            "ema",
            {
                "defs": """
                    class EMA:
                        def __init__(self, module, decay):
                            self.decay = decay
                            self.shadow = {
                                name: value.detach().clone()
                                for name, value in module.named_parameters()
                            }

                        @torch.no_grad()
                        def update(self, module):
                            for name, value in module.named_parameters():
                                self.shadow[name].lerp_(value.detach(), 1 - self.decay)
                    """,
                "build": "@:ema = EMA(@raw, @args.ema_decay)",
                "post_step": "@:ema.update(@raw)",
            },
            (("ema_decay", "float", "0.999"),),
            UNSHARDED,
        ),
        Feature("accumulate", args=(("accumulate", "int", "4"),), kinds=WHOLE_STEP),
        Feature(
            "amp",
            {"build": '@:scaler = torch.amp.GradScaler("cuda", enabled=@args.amp)'},
            (("amp", "bool", "True"),),
            WHOLE_STEP,
        ),
        Feature(
            "resume",
            {
                "build": """
                    if @args.resume:
                        @load(@args.resume)
                    """
            },
            (("resume", "str", '""'),),
            frozenset({"ddp"}),
        ),
        Feature(
            "keep_best",
            {
                "build": "@:best = 0.0",
                "epoch_end": """
                    if @:accuracy > @:best:
                        @:best = @:accuracy
                        @save(os.path.join(@args.output, "best.pt"))
                    """,
            },
            requires=("evaluate", "folders"),
            imports=("import os",),
        ),
        Feature(
            "keep_last",
            {
                "build": "@:kept = []",
                "epoch_end": """
                    path = os.path.join(@args.output, f"epoch_{@epoch}.pt")
                    @save(path)
                    @:kept.append(path)
                    if len(@:kept) > @args.keep:
                        oldest = @:kept.pop(0)
                        if @main and os.path.exists(oldest):
                            @remove(oldest)
                    """,
            },
            (("keep", "int", "3"),),
            requires=("folders",),
            imports=("import os", "import shutil"),
        ),
        Feature(
            "folders",
            {
                "setup": """
                    if @main:
                        os.makedirs(@args.output, exist_ok=True)
                    @wait
                    """
            },
            imports=("import os",),
        ),
        Feature(
            "timer",
            {
                "epoch_start": "@:started = time.perf_counter()",
                "epoch_end": """
                    elapsed = time.perf_counter() - @:started
                    if @main:
                        print(f"epoch {@epoch} took {elapsed:.1f} s")
                    """,
            },
            imports=("import time",),
        ),
        Feature(
            "profiler",
            {
                "epoch_start": """
                    @:profiler = torch.profiler.profile(
                        activities=[torch.profiler.ProfilerActivity.CPU],
                        schedule=torch.profiler.schedule(wait=1, warmup=1, active=3),
                    )
                    if @args.profile:
                        @:profiler.start()
                    """,
                "after_step": """
                    if @args.profile:
                        @:profiler.step()
                    """,
                "epoch_end": """
                    if @args.profile:
                        @:profiler.stop()
                    """,
            },
            (("profile", "bool", "False"),),
        ),
        Feature(
            "helpers",
            {
                "defs": """
                    def count_parameters(module):
                        return sum(p.numel() for p in module.parameters() if p.requires_grad)


                    def readable(number):
                        for unit in ("", "K", "M"):
                            if number < 1000:
                                return f"{number:.1f}{unit}"
                            number /= 1000
                        return f"{number:.1f}G"
                    """,
                "build": """
                    if @main:
                        print(f"{readable(count_parameters(@model))} parameters")
                    """,
            },
        ),
        Feature(
            "nan_guard",
            {
                "after_forward": """
                    bad = (~torch.isfinite(loss.detach())).float()
                    @sum(bad)
                    if bad.item() > 0:
                        @zero_grad
                        continue
                    """
            },
            kinds=frozenset({"ddp", "fsdp", "fabric"}),
        ),
        Feature("clip", args=(("max_norm", "float", "1.0"),)),
        Feature(
            "schedule",
            {
                "defs": """
                    def warmup_cosine(step, warmup, total):
                        if step < warmup:
                            return (step + 1) / warmup
                        progress = (step - warmup) / max(1, total - warmup)
                        return 0.5 * (1.0 + math.cos(math.pi * progress))
                    """,
                "build": """
                    total_steps = len(@loader) * @args.epochs
                    @:scheduler = torch.optim.lr_scheduler.LambdaLR(
                        @optimizer,
                        lambda step: warmup_cosine(step, @args.warmup_steps, total_steps),
                    )
                    """,
                "post_step": "@:scheduler.step()",
            },
            (("warmup_steps", "int", "500"),),
            frozenset({"ddp", "fsdp", "fabric"}),
            imports=("import math",),
        ),
        Feature(
            "seed",
            {
                "defs": """
                    def seed_everything(seed):
                        random.seed(seed)
                        np.random.seed(seed)
                        torch.manual_seed(seed)
                        torch.cuda.manual_seed_all(seed)
                    """,
                "setup": "seed_everything(@args.seed)",
            },
            (("seed", "int", "0"),),
            imports=("import random", "import numpy as np"),
        ),
        Feature(
            "tensorboard",
            {
                "build": "@:writer = SummaryWriter(@args.output) if @main else None",
                "after_step": """
                    if @:writer is not None and step % 100 == 0:
                        @:writer.add_scalar("loss", loss.item(), @epoch * len(@loader) + step)
                    """,
                "finish": """
                    if @:writer is not None:
                        @:writer.close()
                    """,
            },
            imports=("from torch.utils.tensorboard import SummaryWriter",),
        ),
        Feature(
            "wandb",
            {
                "setup": """
                    if @main:
                        wandb.init(project="trainer", config=vars(@args))
                    """,
                "epoch_end": """
                    if @main:
                        wandb.log({"epoch": @epoch})
                    """,
                "finish": """
                    if @main:
                        wandb.finish()
                    """,
            },
            imports=("import wandb",),
        ),
        Feature(
            "signals",
            {
                "defs": """
                    class StopRequest:
                        def __init__(self):
                            self.asked = False
                            signal.signal(signal.SIGUSR1, self.ask)

                        def ask(self, number, frame):
                            self.asked = True
                    """,
                "build": "@:stop = StopRequest()",
                "epoch_end": """
                    asked = torch.tensor(float(@:stop.asked), device=@device)
                    @sum(asked)
                    @:stopping = asked.item() > 0
                    """,
            },
            imports=("import signal",),
        ),
        Feature(
            "validation_of_options",
            {
                "validate": """
                    if args.epochs < 1:
                        raise ValueError(f"--epochs is {args.epochs}")
                    if not 0 < args.lr < 10:
                        raise ValueError(f"--lr is {args.lr}")
                    """
            },
        ),
        Feature(
            "memory_log",
            {
                "epoch_end": """
                    if @main:
                        peak = torch.cuda.max_memory_allocated(@device) / 2**30
                        print(f"peak memory {peak:.2f} GiB")
                    torch.cuda.reset_peak_memory_stats(@device)
                    """
            },
        ),
        Feature(
            "moving_average",
            {
                "defs": """
                    class MovingAverage:
                        def __init__(self, momentum=0.98):
                            self.momentum, self.value = momentum, None

                        def update(self, value):
                            if self.value is None:
                                self.value = value
                            self.value = self.momentum * self.value + (1 - self.momentum) * value
                            return self.value
                    """,
                "build": "@:smooth = MovingAverage()",
                "after_step": "@:smooth.update(loss.item())",
                "epoch_end": """
                    if @main and @:smooth.value is not None:
                        print(f"smoothed loss {@:smooth.value:.4f}")
                    """,
            },
        ),
        Feature(
            "throughput",
            {
                "epoch_start": """
                    @:seen = 0
                    @:since = time.perf_counter()
                    """,
                "after_step": "@:seen += targets.numel() * @world",
                "epoch_end": """
                    if @main:
                        rate = @:seen / (time.perf_counter() - @:since)
                        print(f"{rate:.0f} samples/s")
                    """,
            },
            imports=("import time",),
        ),
        Feature(
            "sync_bn",
            {"wrap": "net = nn.SyncBatchNorm.convert_sync_batchnorm(net)"},
            kinds=frozenset({"ddp"}),
        ),
        Feature(
            "compile",
            {
                "wrap": """
                    if @args.compile:
                        net.compile()
                    """
            },
            (("compile", "bool", "False"),),
        ),
        Feature(
            "metrics",
            {
                "defs": """
                    class Meter:
                        def __init__(self, device):
                            self.totals = torch.zeros(2, device=device)

                        def reset(self):
                            self.totals.zero_()

                        def update(self, outputs, targets):
                            self.totals[0] += (outputs.argmax(dim=1) == targets).sum()
                            self.totals[1] += targets.numel()

                        def compute(self@ctx_last):
                            totals = self.totals.clone()
                            @sum(totals)
                            return (totals[0] / totals[1].clamp(min=1)).item()
                    """,
                "build": "@:meter = Meter(@device)",
                "epoch_start": "@:meter.reset()",
                "after_step": "@:meter.update(outputs.detach(), targets)",
                "epoch_end": """
                    train_accuracy = @:meter.compute(@ctx_only)
                    if @main:
                        print(f"train accuracy {train_accuracy:.4f}")
                    """,
            },
        ),
        Feature("clean_up"),
        Feature(
            "transforms",
            {
                "data_defs": """
                    class Transformed(torch.utils.data.Dataset):
                        def __init__(self, data, transforms):
                            self.data, self.transforms = data, transforms

                        def __len__(self):
                            return len(self.data)

                        def __getitem__(self, index):
                            inputs, target = self.data[index]
                            for transform in self.transforms:
                                inputs = transform(inputs)
                            return inputs, target


                    def normalize(inputs):
                        return (inputs - 0.5) / 0.25
                    """,
                "dataset": "train_set = Transformed(train_set, [normalize])",
            },
        ),
        Feature(
            "collate",
            {
                "data_defs": """
                    def collate(samples):
                        inputs, targets = zip(*samples, strict=True)
                        return torch.stack(inputs), torch.as_tensor(targets)
                    """,
                "loader": "collate_fn=collate,",
            },
        ),
        Feature(
            "dry_run",
            {
                "after_step": """
                    if @args.dry_run and step >= 10:
                        break
                    """
            },
            (("dry_run", "bool", "False"),),
        ),
        Feature(
            "logged_loss",
            {
                "after_step": """
                    if step % 100 == 0:
                        shown = loss.detach().clone()
                        @sum(shown)
                        if @main:
                            print(f"mean loss {shown.item() / @world:.4f}")
                    """
            },
        ),
        Feature(
            "early_stop",
            {
                "defs": """
                    class Patience:
                        def __init__(self, limit):
                            self.limit, self.best, self.bad = limit, 0.0, 0

                        def step(self, score):
                            self.bad = 0 if score > self.best else self.bad + 1
                            self.best = max(self.best, score)
                            return self.bad >= self.limit
                    """,
                "build": "@:patience = Patience(@args.patience)",
                "epoch_end": "@:exhausted = @:patience.step(@:accuracy)",
            },
            (("patience", "int", "5"),),
            requires=("evaluate",),
        ),
    )
}
