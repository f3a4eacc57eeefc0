import torch
import torch.distributed as dist


def collect(one, other, world):
    found = {
        "one": [torch.zeros_like(one) for _ in range(world)],
        "other": [torch.zeros_like(other) for _ in range(world)],
    }
    dist.all_gather([found["one"], found["other"]], [one, other])  # expect: DST118
    return found


def mean(losses):
    values = [each.detach() for each in losses]
    dist.all_reduce(values)  # expect: DST118
    return values


def send(tensors):
    dist.broadcast(src=0, tensor=(tensors[0], tensors[1]))  # expect: DST118


def ok_each(tensors):
    for tensor in [tensors[0], tensors[1]]:
        dist.all_reduce(tensor)


def ok_objects(found, world):
    every = [None] * world
    dist.all_gather_object(every, [found, found])
    return every


def ok_perhaps(tensors, joined):
    data = [tensors[0]]
    if joined:
        data = torch.cat(tensors)
    dist.all_reduce(data)


def ok_parts(out, parts):
    dist.reduce_scatter(out, [parts[0], parts[1]])
    dist.all_to_all([out], [parts[0]])
