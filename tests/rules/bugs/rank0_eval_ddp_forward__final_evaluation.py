"""After the loop the main process evaluates the wrapper; the others clean up."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def evaluate(model, batches):
    model.eval()
    with torch.no_grad():
        return sum(model(batch).mean().item() for batch in batches)


def run(is_main):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    model = DDP(net)
    for batch in torch.randn(3, 4, 3):
        model(batch).mean().backward()
    if is_main:  # expect: DST115
        print(f"final {evaluate(model, torch.randn(2, 4, 3)):.3f}")
    dist.barrier()
    dist.destroy_process_group()


dist.init_process_group("gloo")
run(is_main=dist.get_rank() == 0)
