import torch.distributed as dist
from accelerate import Accelerator
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DistributedSampler

accelerator = Accelerator()


def sampler(data):
    return DistributedSampler(  # expect: DST518
        data, num_replicas=accelerator.num_processes, rank=accelerator.local_process_index
    )


def part(data):
    return split_dataset_by_node(  # expect: DST518
        data, rank=accelerator.local_process_index, world_size=accelerator.num_processes
    )


def good(data):
    return split_dataset_by_node(
        data, rank=accelerator.process_index, world_size=accelerator.num_processes
    )
