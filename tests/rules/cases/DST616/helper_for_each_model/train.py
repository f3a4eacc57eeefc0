import torch
from helpers import optimizer_of, shard, with_its_parameters, wrapped
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard


def build(width):
    return torch.nn.Linear(width, width)


def in_place():
    student = build(4)
    shard(student)
    optimizer = torch.optim.AdamW(student.parameters())
    teacher = build(8)
    shard(teacher)
    return student, teacher, optimizer


def by_a_wrapper(make_net):
    student: FullyShardedDataParallel = wrapped(make_net("student"))
    optimizer = optimizer_of(student)
    teacher = wrapped(make_net("teacher"))
    return student, teacher, optimizer


def before_another():
    student, teacher = torch.nn.Linear(4, 4), torch.nn.Linear(8, 8)
    optimizer = optimizer_of(student)
    shard(teacher)
    return student, teacher, optimizer


def kept(make_net):
    net = make_net()
    optimizer = optimizer_of(net)
    return with_its_parameters(net), optimizer


def without_a_forward(x):
    student, teacher = torch.nn.Linear(4, 4), torch.nn.Linear(8, 8)
    fully_shard(student)
    print(teacher(x), student.extra_repr())
    return optimizer_of(student)
