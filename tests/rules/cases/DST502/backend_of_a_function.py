import torch
import torch.distributed as dist


def best_backend():
    return "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"


def main():
    dist.init_process_group(best_backend())  # expect: DST502
    torch.ones(1).cuda()


main()
