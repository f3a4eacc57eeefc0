"""Each arm of a rank test makes the group of its half."""
# effect: hang or wrong data
# ranks: 4

import torch.distributed as dist


def half_world():
    half = dist.get_world_size() // 2
    if dist.get_rank() < half:  # expect: DST114
        team = dist.new_group(list(range(half)))
    else:
        team = dist.new_group(list(range(half, 2 * half)))
    return team


dist.init_process_group("gloo")
team = half_world()
