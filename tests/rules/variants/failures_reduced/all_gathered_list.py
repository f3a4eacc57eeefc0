import torch
import torch.distributed as dist


def run(records):
    for record in records:
        try:
            size = torch.tensor(len(torch.load(record)))
        except Exception:
            size = torch.tensor(0)
        sizes = [torch.zeros_like(size) for _ in range(dist.get_world_size())]
        dist.all_gather(sizes, size)
        smallest = min(int(each) for each in sizes)
        for _ in range(smallest):
            dist.barrier()
