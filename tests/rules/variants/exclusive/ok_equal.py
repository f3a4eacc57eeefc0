import torch.distributed as dist


def main(mode):
    if mode == "server" and dist.get_rank() == 0:
        print("server")
    elif mode == "local":
        dist.barrier()
