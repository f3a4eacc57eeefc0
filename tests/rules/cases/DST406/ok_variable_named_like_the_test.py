import torch
import torch.distributed as dist


def is_main():
    return dist.get_rank() == 0


def save(state):
    is_main = globals()["is_main"]()
    if is_main:
        torch.save(state, "model.pt")


def finish(state):
    is_main = dist.get_rank() == 0
    if not is_main:
        return
    torch.save(state, "last.pt")


dist.init_process_group("gloo")
save({})
finish({})
