"""Best value and patience are in a dict that a helper changes."""
# effect: hang

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)


def batches(count):
    return [(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(count)]


def is_main():
    return dist.get_rank() == 0


def update(state, loss):
    if state["best"] is None or loss < state["best"]:
        state["best"], state["bad"] = loss, 0
    else:
        state["bad"] += 1
    return state["bad"] >= state["patience"]


@torch.no_grad()
def count_examples(loader):
    seen = torch.tensor(float(sum(len(y) for _, y in loader)))
    dist.all_reduce(seen)
    return int(seen.item())


def train_one_epoch(model, loader, optimizer, log_every):
    running = 0.0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % log_every == 0 and is_main():
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    return running / max(1, len(loader))


def main(loader, val_loader, epochs, log_every):
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = {"best": None, "bad": 0, "patience": 2}
    for epoch in range(epochs):
        loss = train_one_epoch(model, loader, optimizer, log_every)
        examples = count_examples(val_loader)
        if is_main() and epoch % log_every == 0:
            print(f"{examples} examples", flush=True)
        if update(state, loss):
            break  # expect: DST102


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
