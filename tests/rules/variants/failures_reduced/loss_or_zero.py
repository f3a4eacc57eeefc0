import torch
import torch.distributed as dist


def run(records):
    total = 0
    for record in records:
        try:
            loss = torch.load(record).mean()
        except Exception:
            loss = torch.zeros(())
        dist.all_reduce(loss)
        if loss.item() > 10:
            break
        total += loss.item()
        dist.barrier()
