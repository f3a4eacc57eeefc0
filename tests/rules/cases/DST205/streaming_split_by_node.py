import torch.distributed as dist
from datasets import load_dataset
from datasets.distributed import split_dataset_by_node
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(tok, net, opt):
    stream = load_dataset("allenai/c4", "en", split="train", streaming=True)
    stream = split_dataset_by_node(stream, dist.get_rank(), dist.get_world_size())
    loader = DataLoader(stream.map(tok), batch_size=4)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
