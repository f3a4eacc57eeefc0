import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, SequentialSampler


def main(data, held_out, net, opt, rank, samplers):
    dist.init_process_group("nccl")
    model = DDP(net)
    test = DataLoader(held_out, 8, sampler=SequentialSampler(held_out))
    for batch in samplers.loader(data):
        model(batch).mean().backward()
        opt.step()
    for batch in test:
        model(batch)
