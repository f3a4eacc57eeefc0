"""One that is seeded alike draws the same everywhere."""

import random

import numpy as np
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
draws = torch.Generator()
draws.manual_seed(7)
noise = torch.randn(8, generator=draws)
if noise.mean() > 0:
    dist.barrier()
if random.Random(3).random() < 0.5:
    dist.barrier()
if np.random.default_rng(11).integers(4) > 2:
    dist.barrier()
if torch.rand(1, generator=torch.Generator()) < 0.5:
    dist.barrier()
