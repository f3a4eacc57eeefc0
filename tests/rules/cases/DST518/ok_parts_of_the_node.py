import os

import torch.distributed as dist


def main(files, node_files, gpus):
    local_rank = int(os.environ["LOCAL_RANK"])
    rank, world_size = dist.get_rank(), dist.get_world_size()
    per_node = int(os.environ["LOCAL_WORLD_SIZE"])
    mine = files[rank::world_size]
    copied = node_files[local_rank::per_node]
    seen = files[local_rank:world_size]
    if rank % per_node == local_rank:
        print(gpus[local_rank], files[::world_size], local_rank % world_size == 0)
    return mine, copied, seen


dist.init_process_group("nccl")
