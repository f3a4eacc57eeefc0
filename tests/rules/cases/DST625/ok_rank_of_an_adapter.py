import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    lora_rank = args.lora_rank
    for batch in loader:
        model(batch).mean().backward()
        if lora_rank > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if args.lora_rank == 0:
            optimizer.zero_grad()
        optimizer.step()
