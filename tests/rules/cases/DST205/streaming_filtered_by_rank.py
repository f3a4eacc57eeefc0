import torch.distributed as dist
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(tok, net, opt):
    rank, world = dist.get_rank(), dist.get_world_size()
    stream = load_dataset("allenai/c4", "en", split="train", streaming=True)
    stream = stream.filter(lambda row, i: i % world == rank, with_indices=True)
    loader = DataLoader(stream.map(tok), batch_size=4)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
