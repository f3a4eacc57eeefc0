import torch
import torch.distributed as dist


def step(model, optimizer, batches, rank):
    signal = torch.zeros(1)

    def closure():
        if rank == 0:
            signal.fill_(1)
            dist.broadcast(signal, src=0)
        optimizer.zero_grad()
        loss = model(next(batches)).mean()
        loss.backward()
        dist.all_reduce(loss)
        return loss

    follow(signal, model) if rank != 0 else optimizer.step(closure)
