import torch
import torch.distributed as dist

dist.init_process_group("nccl", init_method="tcp://10.0.0.1:{}".format(port))
torch.cuda.set_device(dist.get_rank())  # expect: DST504
