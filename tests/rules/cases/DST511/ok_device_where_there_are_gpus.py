import torch
import torch.distributed as dist


def main(seen):
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    count = torch.tensor([len(seen)], device=device)
    dist.all_reduce(count)
    other = torch.tensor(len(seen)).to(device)
    dist.all_reduce(other)
