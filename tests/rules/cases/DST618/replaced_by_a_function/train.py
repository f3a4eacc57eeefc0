import torch
import torch.distributed as dist
from heads import describe, widen
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision import models


def by_a_function():
    model = models.resnet18()
    if dist.get_rank() == 0:
        widen(model, 10)  # expect: DST618
    return DDP(model.cuda())


def moved_on_the_way(device):
    model = models.resnet18()
    if dist.get_rank() == 0:
        model.fc = torch.nn.Linear(512, 10)  # expect: DST618
    return DDP(model.to(device))


def inside(device):
    model = models.segmentation.fcn_resnet50()
    if dist.get_rank() == 0:
        model.backbone.conv1 = torch.nn.Conv2d(4, 64, 7)  # expect: DST618
    return DDP(model.to(device))


def by_all():
    model = models.resnet18()
    if dist.get_rank() == 0:
        print("wider head")
        describe(model)
    widen(model, 10)
    return DDP(model.cuda())


def in_both_arms():
    model = models.resnet18()
    if dist.get_rank() == 0:
        widen(model, 10)
    else:
        model.fc = torch.nn.Linear(512, 10)
    return DDP(model.cuda())


def of_a_copy():
    model, other = models.resnet18(), models.resnet18()
    if dist.get_rank() == 0:
        widen(other, 10)
    return DDP(model.cuda())
