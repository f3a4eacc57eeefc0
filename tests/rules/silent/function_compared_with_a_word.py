"""The parameter is called ``split``, the test asks the function ``evaluate``: it never holds."""

import torch.distributed as dist


def evaluate(data):
    return sum(data) / len(data)


def load(split="train"):
    if dist.get_rank() != 0 and evaluate == "train":
        dist.barrier()
    data = [1.0, 2.0] if split == "train" else [3.0]
    if dist.get_rank() == 0 and evaluate == "train":
        dist.barrier()
        dist.barrier()
    return data


dist.init_process_group("gloo")
print(evaluate(load()))
dist.destroy_process_group()
