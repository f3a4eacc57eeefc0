import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def save(state, is_main):
    if is_main_process:
        torch.save(state, "model.pt")  # expect: DST406


dist.init_process_group("gloo")
save({}, True)
