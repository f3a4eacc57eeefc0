import torch
import torch.distributed as dist
from helpers import replicate
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model: DDP, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


def main(args, make_net, loader):
    dist.init_process_group("nccl")
    net = make_net()
    net.head = nn.Linear(512, args.classes).cuda()
    model = replicate(net, args.local_rank)
    train(model, loader)
    model.module.fc = nn.Linear(512, args.classes).cuda()
    model = replicate(model.module, args.local_rank)
    train(model, loader)


def other_net(args, make_net, loader):
    dist.init_process_group("nccl")
    teacher, student = make_net("teacher"), make_net("student")
    model = replicate(student, args.local_rank)
    teacher.head = nn.Linear(512, args.classes).cuda()
    teacher.half()
    train(model, loader)
