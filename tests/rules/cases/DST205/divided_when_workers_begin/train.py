from stream import Files, begin
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(files, net, opt):
    loader = DataLoader(Files(files), 8, num_workers=4, worker_init_fn=begin)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
