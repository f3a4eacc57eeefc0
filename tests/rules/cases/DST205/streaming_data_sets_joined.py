import torch.distributed as dist
from datasets import interleave_datasets, load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(tok, net, opt):
    web = load_dataset("c4", split="train", streaming=True)
    code = load_dataset("code", split="train", streaming=True)
    loader = DataLoader(interleave_datasets([web, code]), batch_size=4)  # expect: DST205
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
