"""Training loops that end by a patience on the loss, with ordinary code between loss and test.

Ways are joined in that code, at a loss, before the patience is asked about.
"""

from __future__ import annotations

_HEAD = """\
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
"""
_NET = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)
"""
_EVAL = """

@torch.no_grad()
def evaluate(model, loader):
    for x, y in loader:
        model(x)
"""
_TRAIN = """

def is_main():
    return dist.get_rank() == 0


def train_one_epoch(model, loader, optimizer, log_every):
    running = 0.0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % log_every == 0 and is_main():
            print(f"loss {loss.item():.4f}", flush=True)
    return running
"""
_SETUP = """

def main(loader, val_loader, epochs, log_every):
    dist.init_process_group("gloo")
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
_LOOP = """\
    for epoch in range(epochs):
        loss = train_one_epoch(model, loader, optimizer, log_every)
{agree}        evaluate(model, val_loader)
"""
_AGREE = """\
        total = torch.tensor(loss)
        dist.all_reduce(total)
        loss = total.item()
"""

CASES = {
    "class": (
        """\


class EarlyStopper:
    def __init__(self, patience=3, min_delta=1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def step(self, loss):
        if loss < self.best - self.min_delta:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience
""",
        "    stopper = EarlyStopper()\n",
        """\
        if stopper.step(loss):
            break
""",
    ),
    "counter": (
        "",
        """\
    best, bad = float("inf"), 0
""",
        """\
        if loss < best:
            best, bad = loss, 0
        else:
            bad += 1
        if bad >= 3:
            break
""",
    ),
    "called": (
        """\


class Patience:
    def __init__(self, limit):
        self.limit = limit
        self.lowest = None
        self.count = 0

    def __call__(self, score):
        if self.lowest is None or score < self.lowest:
            self.lowest = score
            self.count = 0
            return False
        self.count = self.count + 1
        return self.count > self.limit
""",
        "    patience = Patience(5)\n",
        """\
        if patience(loss):
            break
""",
    ),
    "attribute": (
        """\


class Watch:
    def __init__(self, patience):
        self.patience = patience
        self.best_loss = None
        self.counter = 0
        self.early_stop = False

    def update(self, val_loss):
        if self.best_loss is None:
            self.best_loss = val_loss
        elif val_loss > self.best_loss:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True
        else:
            self.best_loss = val_loss
            self.counter = 0
""",
        "    watch = Watch(3)\n",
        """\
        watch.update(loss)
        if watch.early_stop:
            break
""",
    ),
    "flag": (
        "",
        """\
    best = float("inf")
""",
        """\
        improved = loss < best
        wait = 0 if improved else 1
        best = min(best, loss)
        if wait:
            break
""",
    ),
    "dict": (
        "",
        """\
    state = {"best": float("inf"), "bad": 0}
""",
        """\
        if loss < state["best"]:
            state["best"] = loss
            state["bad"] = 0
        else:
            state["bad"] += 1
        if state["bad"] >= 3:
            break
""",
    ),
    "function": (
        """\


def update(loss, best, bad):
    if loss < best:
        return loss, 0
    return best, bad + 1
""",
        """\
    best, bad = float("inf"), 0
""",
        """\
        best, bad = update(loss, best, bad)
        if bad >= 3:
            break
""",
    ),
    "subtract": (
        "",
        """\
    left = 3
    best = float("inf")
""",
        """\
        if loss >= best:
            left -= 1
        best = min(best, loss)
        if left == 0:
            break
""",
    ),
    "return": (
        "",
        """\
    best, bad = float("inf"), 0
""",
        """\
        bad = 0 if loss < best else bad + 1
        best = min(loss, best)
        if bad > 2:
            return model
""",
    ),
    "while": (
        "",
        """\
    best, bad = float("inf"), 0
""",
        """\
        if loss < best - 1e-3:
            best = loss
            bad = 0
        else:
            bad += 1
        if bad < 3:
            dist.all_reduce(torch.ones(1))
""",
    ),
    "inner": (
        """\


class Stop:
    def __init__(self, patience=3, min_delta=1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def step(self, loss):
        if loss < self.best - self.min_delta:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


class Tracker:
    def __init__(self):
        self.stop = Stop()

    def should_end(self, loss):
        return self.stop.step(loss)
""",
        "    tracker = Tracker()\n",
        """\
        if tracker.should_end(loss):
            break
""",
    ),
}
"""What keeps count, its set-up, and the end of the turn."""


def script(name: str, *, agreed: bool = False) -> str:
    """A script with such a loop; the loss may be reduced before it is tested."""
    definitions, setup, end = CASES[name]
    loop = _LOOP.format(agree=_AGREE if agreed else "")
    head = f"{_HEAD}{_NET}{definitions}{_TRAIN}{_EVAL}"
    return f"{head}{_SETUP}{setup}{loop}{end}        dist.barrier()\n"
