import torch
import torch.distributed as dist


def evaluate(model, loader):
    return sum(model(batch).mean().item() for batch in loader)


def main(model, loader):
    best, bad = 100.0, 0
    stop = torch.zeros(1)
    for epoch in range(50):
        if dist.get_rank() == 0:
            loss = evaluate(model, loader)
            if loss < best:
                best, bad = loss, 0
            else:
                bad += 1
                if bad >= 4:
                    stop.fill_(1)
        dist.broadcast(stop, src=0)
        if stop.item() == 1:
            break
    dist.barrier()
