"""A loader sends the file of rank 0 to all, and rank 0 alone calls it (consistency_models)."""
# effect: hang

import torch
import torch.distributed as dist


def load_state_dict():
    content = [None]
    if dist.get_rank() == 0:
        content = [{"weight": torch.ones(2, 2)}]
    dist.broadcast_object_list(content, src=0)
    return content[0]


def load_and_share(model):
    if dist.get_rank() == 0:  # expect: DST101
        model.load_state_dict(load_state_dict())
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    load_and_share(torch.nn.Linear(2, 2, bias=False))
