import os

import torch
import torch.distributed as dist
import torchvision.models as models
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = models.resnet18()
    model.load_state_dict(torch.load(args.checkpoint))  # expect: DST404
    return DDP(model.cuda())


def own_model(net, args):
    dist.barrier()
    net.load_state_dict(torch.load(args.pretrained))  # expect: DST404


def dated(net):
    dist.barrier()
    net.load_state_dict(torch.load("run-20240101.pth"))  # expect: DST404
