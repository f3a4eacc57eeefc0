import torch.distributed as dist


def is_local(mode):
    return mode == "local"


def main(mode):
    if mode == "server" and dist.get_rank() == 0:
        print("server")
    elif is_local(mode):
        dist.barrier()
