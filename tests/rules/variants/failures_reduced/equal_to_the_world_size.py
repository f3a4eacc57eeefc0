import torch
import torch.distributed as dist


def run(records):
    world = dist.get_world_size()
    for record in records:
        good = torch.zeros(1)
        try:
            batch = torch.load(record)
            good[0] = 1
        except Exception as error:
            print(error)
        dist.all_reduce(good)
        if int(good.item()) != world:
            continue
        dist.all_reduce(batch)
