import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


context = mp.get_context("spawn")
workers = [context.Process(target=train, args=(rank, 2)) for rank in range(2)]  # expect: DST516
for worker in workers:
    worker.start()
