import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from evaluation import evaluate


def main(net, data):
    dist.init_process_group("nccl")
    model = DDP(net)
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    print(f"[{dist.get_rank()}] {evaluate(model, val_loader):.3f}")
