import torch
import torch.distributed as dist

dist.init_process_group("nccl")
device = torch.device("gpu:{}".format(dist.get_rank()))
