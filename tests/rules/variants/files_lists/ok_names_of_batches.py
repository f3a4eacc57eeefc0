import os
import torch
import torch.distributed as dist


def main(data):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    rank = dist.get_rank()
    world = dist.get_world_size()

    sampler = torch.utils.data.DistributedSampler(data, shuffle=False)
    loader = torch.utils.data.DataLoader(data, sampler=sampler)
    names = []
    for batch in loader:
        names.extend(batch["name"])
    for name in names:
        torch.save(name, f"out/{name}.pt")
    dist.barrier()


if __name__ == "__main__":
    main()
