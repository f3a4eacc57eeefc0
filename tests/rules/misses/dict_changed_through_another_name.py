"""A dict that is changed through another of its names."""
# effect: hang

import torch.distributed as dist

dist.init_process_group("gloo")
state = {"turn": 0}
alias = state
alias["turn"] = dist.get_rank()
if state["turn"] == 0:  # expect: DST101
    dist.barrier()
dist.destroy_process_group()
