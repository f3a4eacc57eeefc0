"""Groups of as many ranks as an option says, or a node has: each rank is in one of them."""

import torch
import torch.distributed as dist


class Optimizer:
    def __init__(self, size=0, scattering=1, gathering=1):
        self.size = torch.cuda.device_count() if size <= 0 else size
        self.groups = dist.get_world_size() // self.size
        self.scattering, self.gathering = scattering, gathering
        if self.groups > 1:
            dist.barrier()
        rows = []
        for row in range(self.groups):
            first = row * self.size
            rows.append([first + column for column in range(self.size)])
        self.scatters = []
        for row in range(self.groups):
            ranks = rows[row]
            for _ in range(self.scattering):
                group = dist.new_group(ranks=ranks)
                if dist.get_rank() in ranks:
                    self.scatters.append(group)
        self.gathers = []
        for row in range(self.groups):
            ranks = rows[row]
            for _ in range(self.gathering):
                group = dist.new_group(ranks=ranks)
                if dist.get_rank() in ranks:
                    self.gathers.append(group)
        for group in self.gathers:
            dist.barrier(group=group)
