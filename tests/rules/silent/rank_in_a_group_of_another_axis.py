"""The first stage of each pipeline saves; its ranks meet in their data-parallel group."""

import torch
import torch.distributed as dist


def save(state, path, pipeline_group, data_group):
    if pipeline_group.rank() != 0:
        return
    dist.barrier(group=data_group)
    if data_group.rank() == 0:
        torch.save(state, path)
