import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def save(state, is_main_process):
    if is_main_process:
        torch.save(state, "model.pt")


dist.init_process_group("gloo")
save({}, is_main_process())
