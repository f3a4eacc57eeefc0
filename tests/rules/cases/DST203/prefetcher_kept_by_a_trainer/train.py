import torch.distributed as dist
from loaders import make
from trainer import Trainer


def main(data, model, opt):
    dist.init_process_group("nccl")
    Trainer(model, opt, make(data)).fit(3)
