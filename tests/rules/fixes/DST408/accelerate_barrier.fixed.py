import torch
from accelerate import Accelerator

accelerator = Accelerator()


def save(path):
    if accelerator.is_main_process:
        torch.save({}, path)
    accelerator.wait_for_everyone()
    # all of them
    return torch.load(path, map_location="cpu")
