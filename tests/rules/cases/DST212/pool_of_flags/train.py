import torch.distributed as dist
from data import Pool
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(model, data):
    dist.init_process_group("nccl")
    model = DDP(model)
    pool = Pool(data, 0.1)
    labeled = pool.get_labeled()
    loader = DataLoader(labeled, sampler=DistributedSampler(labeled))
    for x, y in loader:
        model(x).sum().backward()
