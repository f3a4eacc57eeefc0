import os
import torch
import torch.distributed as dist


def main(data):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    rank = dist.get_rank()
    world = dist.get_world_size()

    todo = []
    for i in range(10):
        todo.append(i * world + rank)
    for k in range(len(todo)):
        torch.save(data[k], f"out/{todo[k]}.pt")
    dist.barrier()


if __name__ == "__main__":
    main()
