import torch
import torch.distributed as dist


def run(records):
    for record in records:
        try:
            loss = torch.load(record).mean()
        except Exception:
            loss = torch.tensor(float("nan"))
        dist.all_reduce(loss)
        if torch.isnan(loss):
            continue
        dist.all_reduce(torch.ones(1))
