import torch.distributed as dist
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(tok, net, opt, args):
    seed = args.seed + dist.get_rank()
    stream = load_dataset("allenai/c4", "en", split="train", streaming=True)
    stream = stream.shuffle(seed=seed)
    loader = DataLoader(stream.map(tok), batch_size=4)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
