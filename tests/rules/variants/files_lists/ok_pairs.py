import os
import torch
import torch.distributed as dist


def main(data):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    rank = dist.get_rank()
    world = dist.get_world_size()

    jobs = []
    for i in range(10):
        jobs.append((i * world + rank, data[i]))
    for key, item in jobs:
        torch.save(item, f"out/{key}.pt")
    dist.barrier()


if __name__ == "__main__":
    main()
