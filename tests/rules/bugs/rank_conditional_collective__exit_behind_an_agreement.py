"""All ranks agree that it is late; then one of them leaves, without a word to the others."""
# effect: hang

import torch
import torch.distributed as dist


def any_rank(flag):
    votes = torch.tensor([1 if flag else 0])
    dist.all_reduce(votes, op=dist.ReduceOp.MAX)
    return votes.item() == 1


dist.init_process_group("gloo")
total = torch.ones(1)
if any_rank(dist.get_world_size() > 1):
    if dist.get_rank() == 1:
        raise SystemExit(0)  # expect: DST104
    dist.all_reduce(total)
