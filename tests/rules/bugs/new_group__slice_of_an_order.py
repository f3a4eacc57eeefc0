"""Each rank makes the group of its own pair, taken from a list."""
# effect: hang or wrong data
# ranks: 4

import torch.distributed as dist


def partner_group(order):
    me = dist.get_rank()
    slot = order.index(me) // 2
    pair = order[2 * slot : 2 * slot + 2]
    return dist.new_group(ranks=pair)  # expect: DST114


dist.init_process_group("gloo")
group = partner_group([0, 1, 2, 3])
