import torch
import torch.distributed as dist

dist.init_process_group("nccl")
device = torch.device("cuda:{}".format(dist.get_rank()))  # expect: DST504
