"""A group of this rank alone, one of them on each rank."""
# effect: hang or wrong data

import torch.distributed as dist


def local_or_shared(tp):
    me = dist.get_rank()
    if tp > 1:
        blocks = [list(range(i, i + tp)) for i in range(0, dist.get_world_size(), tp)]
        groups = [dist.new_group(block) for block in blocks]
        return groups[me // tp]
    return dist.new_group([me])  # expect: DST114


dist.init_process_group("gloo")
group = local_or_shared(tp=1)
