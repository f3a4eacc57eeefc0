"""Weights of a library are on the CPU."""

import os

import torch
import torch.distributed as dist
import torchvision
import torchvision.models as models
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    path = os.path.join(args.root, "pretrained_models", "resnet", args.name)
    if "18" in path:
        model = models.resnet18(pretrained=False)
    elif "50" in path:
        model = models.resnet50(pretrained=False)
    else:
        model = None
    model.load_state_dict(torch.load(path))
    return DDP(model.cuda())


def by_its_hash(net, folder):
    dist.barrier()
    net.backbone.load_state_dict(torch.load("resnet50-0676ba61.pth"))
    state = torch.load(os.path.join(folder, "resnet101-63fe2227.pth"))
    net.other.load_state_dict(state, strict=False)
    weights = "/root/.cache/torch/hub/checkpoints/mobilenet_v2-b0353104.pth"
    net.third.load_state_dict(torch.load(weights))


def from_an_option(args):
    dist.barrier()
    model = torchvision.models.vgg16()
    model.load_state_dict(torch.load(args.pretrained_weights))
