import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


def main(loader, epochs):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    model_without_ddp = model.module
    optimizer = torch.optim.Adam(model.parameters())
    bad = 0
    for epoch in range(epochs):
        train(model, loader, optimizer)
        bad += 1
        if bad > 3 and dist.get_rank() == 0:
            print("back to the best weights")
            model_without_ddp.load_state_dict(torch.load("best.pt"))  # expect: DST625
