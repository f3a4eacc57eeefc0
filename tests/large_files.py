"""Large source files in several shapes, made of training code as people write it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping

HEAD = """\
import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

"""

PART = '''\
def setup_{n}(args):
    """Joins the process group and picks the device."""
    dist.init_process_group(backend=args.backend)
    rank, world_size = dist.get_rank(), dist.get_world_size()
    local_rank = int(os.environ["LOCAL_RANK"])
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)
        device = torch.device("cuda", local_rank)
    else:
        device = torch.device("cpu")
    return rank, world_size, device


def loader_{n}(dataset, args, *, train):
    sampler = DistributedSampler(dataset, shuffle=train, drop_last=train)
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        sampler=sampler,
        num_workers=args.workers,
        pin_memory=True,
        drop_last=train,
    )


def average_{n}(value, device):
    total = torch.tensor([value, 1.0], device=device)
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def train_epoch_{n}(model, loader, optimizer, scaler, epoch, args, rank, device):
    model.train()
    loader.sampler.set_epoch(epoch)
    started, seen, running = time.time(), 0, 0.0
    for step, (images, labels) in enumerate(loader):
        images = images.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)
        with torch.autocast(device.type, enabled=args.amp):
            loss = F.cross_entropy(model(images), labels, label_smoothing=args.smoothing)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        if args.clip is not None:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        scaler.step(optimizer)
        scaler.update()
        seen += len(labels)
        running += loss.detach()
        if step % args.log_every == 0:
            mean = average_{n}(float(running) / (step + 1), device)
            if rank == 0:
                speed = seen / (time.time() - started)
                print(f"epoch {{epoch}} step {{step}}: loss {{mean:.4f}}, {{speed:.1f}} images/s")
    return running / max(1, len(loader))


@torch.no_grad()
def evaluate_{n}(model, loader, device, limit=None):
    model.eval()
    right = torch.zeros(2, device=device)
    for step, (images, labels) in enumerate(loader):
        if limit is not None and step >= limit:
            break
        guesses = model(images.to(device)).argmax(dim=1)
        right[0] += (guesses == labels.to(device)).sum()
        right[1] += len(labels)
    {guard}dist.all_reduce(right)
    return (right[0] / right[1].clamp(min=1)).item()


def save_{n}(model, optimizer, epoch, best, path, rank):
    if rank == 0:
        state = {{
            "model": model.module.state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": epoch,
            "best": best,
        }}
        torch.save(state, path)
    dist.barrier()


def main_{n}(args, build, train_set, test_set):
    rank, world_size, device = setup_{n}(args)
    model = build(args).to(device)
    if args.sync_bn:
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    model = DistributedDataParallel(model, device_ids=[device.index] if device.index else None)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
    loaders = [loader_{n}(each, args, train=each is train_set) for each in (train_set, test_set)]
    best = 0.0
    for epoch in range(args.epochs):
        train_epoch_{n}(model, loaders[0], optimizer, scaler, epoch, args, rank, device)
        schedule.step()
        accuracy = evaluate_{n}(model, loaders[1], device)
        if accuracy > best:
            best = accuracy
            save_{n}(model, optimizer, epoch, best, args.output, rank)
        if rank == 0:
            print(f"epoch {{epoch}}: {{accuracy:.2%}} on {{world_size}} ranks, best {{best:.2%}}")
    dist.destroy_process_group()


'''

STEP = """\
    batch_{n} = next(batches)
    loss_{n} = F.mse_loss(model(batch_{n}), batch_{n})
    if args.verbose and rank == 0:
        print("stage {n}", loss_{n}.item())
    optimizer.zero_grad()
    loss_{n}.backward()
    dist.all_reduce(loss_{n})
    if args.clip > {n}:
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
    optimizer.step()
"""

METHODS = """\
    def fit_{n}(self, loader, epoch):
        for step, batch in enumerate(loader):
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if step % self.log_every == 0:
                self.log_{n}(loss, step)
        dist.barrier()

    def log_{n}(self, loss, step):
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if self.rank == 0:
            print("{n}", step, mean.item() / self.world_size)

    def save_{n}(self, path):
        state = self.model.state_dict()
        if self.rank == 0:
            torch.save(state, path)
        {guard}dist.barrier()

"""

WRONG_EVERY = 10
"""One in so many parts has a collective that rank 0 does not reach."""


def functions(lines: int) -> str:
    """Training scripts one after the other, each in functions of its own."""
    return HEAD + _parts(PART, lines, "if dist.get_rank() != 0:\n        ")


def one_function(lines: int) -> str:
    """Generated code: one function that is nothing but stages."""
    return f"{HEAD}\ndef train(model, optimizer, batches, args, rank):\n{_parts(STEP, lines)}"


def one_class(lines: int) -> str:
    """A trainer with very many methods."""
    start = """
class Trainer:
    def __init__(self, model, optimizer, log_every=10):
        self.model = DistributedDataParallel(model)
        self.optimizer = optimizer
        self.log_every = log_every
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()

"""
    return HEAD + start + _parts(METHODS, lines, "if self.rank != 0:\n            ")


def one_script(lines: int) -> str:
    """The same stages in the body of a module."""
    start = "args, model, optimizer, batches = build()\nrank = dist.get_rank()\n"
    return f"{HEAD}\n{start}{textwrap.dedent(_parts(STEP, lines))}"


SHAPES: Mapping[str, Callable[[int], str]] = {
    "functions": functions,
    "one function": one_function,
    "one class": one_class,
    "one script": one_script,
}


def _parts(template: str, lines: int, guard: str = "") -> str:
    count = max(1, lines // template.count("\n"))
    return "".join(
        template.format(n=n, guard="" if n % WRONG_EVERY else guard) for n in range(count)
    )
