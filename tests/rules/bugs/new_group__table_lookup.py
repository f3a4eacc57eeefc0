"""The members come from a table that is read with the rank."""
# effect: hang or wrong data
# ranks: 4

import torch.distributed as dist


def corner_or_centre():
    me = dist.get_rank()
    team = {0: [0, 3], 3: [0, 3]}.get(me, [1, 2])
    return dist.new_group(team)  # expect: DST114


dist.init_process_group("gloo")
group = corner_or_centre()
