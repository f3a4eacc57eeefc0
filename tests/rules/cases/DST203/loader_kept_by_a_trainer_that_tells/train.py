import torch
from torch.nn.parallel import DistributedDataParallel

from data import build_loader
from trainer import Trainer


def main(data, net, optimizer):
    torch.distributed.init_process_group("nccl")
    trainer = Trainer(DistributedDataParallel(net), build_loader(data, 8), optimizer)
    trainer.fit(9)
