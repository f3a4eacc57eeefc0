import math

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler


def by_accelerate(model, data):
    accelerator = Accelerator()
    model, eval_loader = accelerator.prepare(model, DataLoader(data, batch_size=8))
    losses = []
    for batch in eval_loader:
        with torch.no_grad():
            output = model(**batch)
        losses.append(output.loss)
    perplexity = torch.exp(torch.stack(losses).mean())
    perplexity = accelerator.reduce(perplexity, reduction="mean")  # expect: DST617
    accelerator.print(perplexity)


def by_a_sum(model, data, device):
    loader = DataLoader(data, 8, sampler=DistributedSampler(data, shuffle=False))
    total = 0.0
    with torch.no_grad():
        for batch in loader:
            total += model(batch).item()
    perplexity = torch.tensor(math.exp(total / len(loader)), device=device)
    dist.all_reduce(perplexity)  # expect: DST617
    return perplexity / dist.get_world_size()


def root(model, data, device):
    loader = DataLoader(data, 8, sampler=DistributedSampler(data, shuffle=False))
    total, count = torch.zeros(1, device=device), 0
    with torch.no_grad():
        for batch in loader:
            total += model(batch).pow(2).sum()
            count += len(batch)
    mean = total / count
    error = mean.sqrt()
    every = [torch.zeros_like(error) for _ in range(dist.get_world_size())]
    dist.all_gather(every, error)  # expect: DST617
    return torch.stack(every).mean()


def of_all(model, data, device):
    loader = DataLoader(data, 8, sampler=DistributedSampler(data, shuffle=False))
    total = torch.zeros(1, device=device)
    with torch.no_grad():
        for batch in loader:
            total += model(batch)
    mean = total / len(loader)
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    return math.exp(mean.item())


def of_gathered(model, data):
    accelerator = Accelerator()
    model, eval_loader = accelerator.prepare(model, DataLoader(data, batch_size=8))
    losses = []
    for batch in eval_loader:
        with torch.no_grad():
            output = model(**batch)
        losses.append(accelerator.gather_for_metrics(output.loss.repeat(8)))
    perplexity = math.exp(torch.mean(torch.cat(losses)))
    if accelerator.is_main_process:
        print(perplexity)


def worst(model, data, device):
    loader = DataLoader(data, 8, sampler=DistributedSampler(data, shuffle=False))
    total = torch.zeros(1, device=device)
    with torch.no_grad():
        for batch in loader:
            total += model(batch)
    perplexity = torch.exp(total / len(loader))
    dist.all_reduce(perplexity, op=dist.ReduceOp.MAX)
    return perplexity
