import torch
import torch.distributed as dist

backend = "nccl" if torch.cuda.is_available() else "gloo"


def main(seen):
    dist.init_process_group(backend)
    count = torch.tensor([len(seen)])
    dist.all_reduce(count)  # expect: DST511
