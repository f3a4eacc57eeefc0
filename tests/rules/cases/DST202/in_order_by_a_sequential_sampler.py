import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, SequentialSampler


class Trainer:
    def __init__(self, data, held_out, net):
        dist.init_process_group("nccl")
        self.net = DDP(net)
        self.loader = DataLoader(data, 8, sampler=SequentialSampler(data))  # expect: DST202
        self.val_loader = DataLoader(held_out, 8, sampler=SequentialSampler(held_out))

    def fit(self, opt):
        for batch in self.loader:
            self.net(batch).mean().backward()
            opt.step()
