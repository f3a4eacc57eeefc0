"""The comparison is kept in a variable."""

import torch
import torch.distributed as dist


def finish(cfg, state):
    saves = dist.get_rank() == cfg.save_rank
    if saves:  # expect: DST101
        torch.save(state, cfg.path)
        dist.barrier()
