from accelerate import Accelerator
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(tok, net, opt):
    acc = Accelerator()
    stream = load_dataset("allenai/c4", "en", split="train", streaming=True)
    loader = acc.prepare(DataLoader(stream.map(tok), batch_size=4))
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
