"""Rank 0 steps and calls the others into each evaluation of the closure, as often as it needs."""

import torch
import torch.distributed as dist


def take_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, data):
    signal = torch.zeros(1)
    rank = dist.get_rank()

    def closure():
        if rank == 0:
            signal.fill_(1)
            dist.broadcast(signal, src=0)
        optimizer.zero_grad()
        loss = model(data).pow(2).mean()
        loss.backward()
        total = loss.detach().clone()
        dist.all_reduce(total)
        return total

    if rank == 0:
        optimizer.step(closure)
        signal.fill_(0)
        dist.broadcast(signal, src=0)
    else:
        while True:
            dist.broadcast(signal, src=0)
            if signal.item() == 0:
                break
            if signal.item() == 1:
                closure()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    layer = torch.nn.Linear(2, 1)
    take_step(layer, torch.optim.LBFGS(layer.parameters(), max_iter=3), torch.ones(4, 2))
    dist.barrier()
    dist.destroy_process_group()
