import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
world_size = dist.get_world_size()


def in_the_expression(net, batches):
    model, criterion = DDP(net), torch.nn.CrossEntropyLoss()
    for x, y in batches:
        loss = criterion(model(x), y) * world_size  # expect: DST621
        loss.backward()


def in_the_backward_pass(net, batches):
    model = DDP(net)
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        (dist.get_world_size() * loss).backward()  # expect: DST621


def accumulated(net, batches, scaler, args):
    model = DDP(net)
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        loss = loss * args.world_size / args.accum_steps  # expect: DST621
        scaler.scale(loss).backward()


def divided_first(net, batches, grad_accum):
    model = DDP(net)
    for x, y in batches:
        loss = F.mse_loss(model(x), y) / grad_accum
        loss *= world_size  # expect: DST621
        loss.backward()


def of_a_sum(net, batches, count):
    model = DDP(net)
    for x, y in batches:
        loss = F.cross_entropy(model(x), y, reduction="sum")
        loss = loss * world_size / count
        loss.backward()


def by_a_count(net, batches, count):
    model = DDP(net)
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        loss = loss * len(y) * world_size / count
        loss.backward()


def by_all(net, batches, tokens):
    model = DDP(net)
    for x, y in batches:
        loss = F.cross_entropy(model(x), y) * world_size / tokens
        loss.backward()


def shown(net, batches):
    model = DDP(net)
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        print(loss * world_size)
        loss.backward()
