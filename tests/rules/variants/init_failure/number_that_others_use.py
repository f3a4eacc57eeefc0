import torch.distributed as dist

try:
    dist.init_process_group("nccl")
except Exception as error:  # expect: DST515
    print(error)
rank = 0


def save(model):
    if rank == 0:
        model.save("out")
