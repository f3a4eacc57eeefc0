import torch.distributed as dist


def main(mode, backend):
    if mode == "server" and dist.get_rank() == 0:  # expect: DST101
        print("server")
    elif backend == "local":
        dist.barrier()
