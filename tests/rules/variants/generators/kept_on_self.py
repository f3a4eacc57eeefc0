"""A generator of NumPy that an object keeps."""

import numpy as np
import torch.distributed as dist


class Sampler:
    def __init__(self, seed, rank):
        self.rng = np.random.RandomState(seed + rank)

    def step(self):
        if self.rng.rand() < 0.1:  # expect: DST103
            dist.barrier()


dist.init_process_group("gloo")
Sampler(5, dist.get_rank()).step()
