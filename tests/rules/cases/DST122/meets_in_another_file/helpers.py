import torch.distributed as dist


def agree(ready, group):
    dist.all_reduce(ready, op=dist.ReduceOp.MIN, group=group)


def say(ready):
    print("ready", ready)


def agree_on_none(group):
    return None
