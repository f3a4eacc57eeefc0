import torch.distributed as dist


def work(gpu, place):
    rank = place.node * place.gpus + gpu
    dist.init_process_group("nccl", rank=rank, world_size=place.world)  # expect: DST514
