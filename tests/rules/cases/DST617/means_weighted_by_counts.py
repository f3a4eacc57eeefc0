import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def over_ranks(value, count):
    pair = torch.tensor([value * count, count], device="cuda")
    dist.all_reduce(pair)
    return (pair[0] / pair[1]).item()


class Meter:
    def __init__(self):
        self.values = []

    def merged(self, value, seen):
        return over_ranks(value, seen)


@torch.no_grad()
def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    model, meter = DDP(net), Meter()
    total, seen = 0.0, 0
    for inputs, labels in val_loader:
        total += model(inputs).sub(labels).abs().sum().item()
        seen += len(labels)
    mean = total / seen
    mean = meter.merged(mean, seen)
    if dist.get_rank() == 0:
        print("error", mean)
