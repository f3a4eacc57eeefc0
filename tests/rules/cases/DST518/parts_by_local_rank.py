import os
from itertools import islice

import torch
import torch.distributed as dist
from datasets import load_dataset
from datasets.distributed import split_dataset_by_node


def main(files, path):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    world_size = dist.get_world_size()
    mine = files[local_rank::world_size]  # expect: DST518
    for index in range(local_rank, len(files), world_size):  # expect: DST518
        mine.append(files[index])
    for each in islice(files, local_rank, None, world_size):  # expect: DST518
        mine.append(each)
    data = load_dataset(path, split="train")
    one = data.shard(world_size, local_rank)  # expect: DST518
    two = data.shard(num_shards=int(os.environ["WORLD_SIZE"]), index=local_rank)  # expect: DST518
    three = split_dataset_by_node(data, rank=local_rank, world_size=world_size)  # expect: DST518
    for step, each in enumerate(files):
        if step % world_size == local_rank:  # expect: DST518
            mine.append(each)
        if step % world_size != local_rank:  # expect: DST518
            continue
        print(each)
    rest = [f for i, f in enumerate(files) if i % world_size == local_rank]  # expect: DST518
    return mine, one, two, three, rest
