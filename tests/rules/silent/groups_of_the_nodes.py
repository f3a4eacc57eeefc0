"""A group for each node: the nodes' sizes add up to the world, so each rank is in one of them."""

import os

import torch
import torch.distributed as dist


class Hierarchy:
    def __init__(self):
        self.world = dist.get_world_size()
        self.per_node = int(os.environ.get("LOCAL_WORLD_SIZE", 8))
        self.mine = None
        for node in range(self.world // self.per_node):
            members = [node * self.per_node + i for i in range(self.per_node)]
            group = dist.new_group(ranks=members)
            if dist.get_rank() in members:
                self.mine = group

    def mean(self, tensor):
        dist.all_reduce(tensor, group=self.mine)
        dist.all_reduce(tensor)
        return tensor / self.world


def by_devices(tensor):
    devices = torch.cuda.device_count() or 1
    group = None
    for first in range(0, dist.get_world_size(), devices):
        members = list(range(first, first + devices))
        made = dist.new_group(members)
        if dist.get_rank() in members:
            group = made
    dist.all_reduce(tensor, group=group)
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(Hierarchy().mean(torch.ones(1)))
    by_devices(torch.ones(1))
    dist.destroy_process_group()
