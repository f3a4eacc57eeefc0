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
        todo.append(i)
    for k, number in enumerate(todo):
        torch.save(data[k], f"out/{number}.pt")  # expect: DST406
    dist.barrier()


if __name__ == "__main__":
    main()
