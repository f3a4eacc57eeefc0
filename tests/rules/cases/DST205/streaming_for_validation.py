import torch
import torch.distributed as dist
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(tok, net, opt, train):
    model = DDP(net)
    stream = load_dataset("allenai/c4", "en", split="validation", streaming=True)
    val_loader = DataLoader(stream.map(tok), batch_size=4)
    for batch in train:
        model(batch).mean().backward()
        opt.step()
    with torch.no_grad():
        for batch in val_loader:
            model(batch)
