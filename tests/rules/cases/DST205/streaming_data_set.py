import torch.distributed as dist
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def build(tok):
    stream = load_dataset("allenai/c4", "en", split="train", streaming=True)
    stream = stream.shuffle(seed=42, buffer_size=10_000).map(tok, batched=True)
    return DataLoader(stream.with_format("torch"), batch_size=4, num_workers=2)  # expect: DST205


def main(tok, net, opt):
    loader = build(tok)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
