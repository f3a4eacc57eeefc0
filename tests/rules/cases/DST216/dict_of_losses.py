import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(options, net, loader):
    dist.init_process_group("nccl")
    if options["seed"] is not None:
        torch.manual_seed(options["seed"])  # expect: DST216
    state = {"model": DDP(net)}
    for batch in loader:
        batch["noise"] = torch.randn_like(batch["image"])
        losses = state["model"](batch)
        total = sum(losses.values())
        total.backward()
