import torch.distributed as dist
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main(tok, net, opt, train):
    data = load_dataset("sst2", split="train")
    loader = DataLoader(data.map(tok), batch_size=4, sampler=DistributedSampler(data))
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
