import torch
import torch.distributed as dist


def run(records):
    for record in records:
        loss, count = torch.zeros(1), torch.zeros(1)
        try:
            loss = torch.load(record).sum()
            count += 1
        except Exception:
            pass
        both = torch.stack([loss.view(()), count.view(())])
        dist.all_reduce(both)
        loss, count = both
        if count.item() == 0:
            continue
        dist.all_reduce(loss)
