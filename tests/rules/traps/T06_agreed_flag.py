"""T6. A branch on an agreed flag: reduced before the test."""

import torch
import torch.distributed as dist

dev = torch.device("cpu")
dist.init_process_group("gloo")
rank = dist.get_rank()
break_out = False
for step in range(10):
    loss = torch.tensor(10.0 - step - 3 * rank)
    dist.all_reduce(torch.ones(1))
    local_stop = loss.item() < 4.0
    stop = torch.tensor(int(local_stop), device=dev)
    dist.all_reduce(stop, op=dist.ReduceOp.MAX)
    if stop.item():
        break_out = True
    if break_out:
        break
print("step =", step)
dist.destroy_process_group()
