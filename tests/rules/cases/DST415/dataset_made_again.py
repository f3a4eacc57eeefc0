import os

import datasets
import torch.distributed as dist
from datasets import DownloadMode, load_dataset
from torch.utils.data import DataLoader, DistributedSampler

MODE = "force_redownload"


def fsdp_main(path, seed):
    dist.init_process_group("nccl")
    mode = "force_redownload"
    data = datasets.load_dataset("json", data_files=path, download_mode=mode)  # expect: DST415
    data = data.shuffle(seed=seed)
    return DataLoader(data, sampler=DistributedSampler(data))


def by_an_enum(path):
    dist.init_process_group("nccl")
    return load_dataset(path, download_mode=DownloadMode.FORCE_REDOWNLOAD)  # expect: DST415


def by_a_variable(path):
    dist.init_process_group("nccl")
    return load_dataset(path, split="train", download_mode=MODE)  # expect: DST415


def ok_locked(path):
    dist.init_process_group("nccl")
    return load_dataset(path, download_mode="reuse_dataset_if_exists")


def ok_first(path):
    dist.init_process_group("nccl")
    if int(os.environ["LOCAL_RANK"]) == 0:
        load_dataset(path, download_mode="force_redownload")
    dist.barrier()
    return load_dataset(path)


def ok_default(path):
    dist.init_process_group("nccl")
    return load_dataset(path)


if __name__ == "__main__":
    fsdp_main("train.json", 1)
