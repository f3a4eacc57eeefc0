"""T25. makedirs(exist_ok=True), and the rank in the name of the file."""

import os
import tempfile

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
folder = [tempfile.mkdtemp()]
dist.broadcast_object_list(folder, src=0)
out = os.path.join(folder[0], "states")
os.makedirs(out, exist_ok=True)
net = torch.nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters())
torch.save(opt.state_dict(), os.path.join(out, f"optim_rank{rank}.pt"))
dist.barrier()
print("files =", sorted(os.listdir(out)))
dist.destroy_process_group()
