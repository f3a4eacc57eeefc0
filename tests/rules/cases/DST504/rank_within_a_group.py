import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
nodes = [dist.new_group(range(n * 8, n * 8 + 8)) for n in range(2)]
mine = nodes[dist.get_rank() // 8]
torch.cuda.set_device(dist.get_rank(mine))
torch.cuda.set_device(dist.get_rank(group=mine))
torch.cuda.set_device(dist.get_node_local_rank())
