import torch.distributed as dist


def main(mode, pick):
    is_main = mode == "server" and dist.get_rank() == 0
    mode = pick(mode)
    if is_main:  # expect: DST101
        print("server")
    elif mode == "local":
        dist.barrier()
