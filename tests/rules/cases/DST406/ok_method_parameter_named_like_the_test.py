import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


class Saver:
    def __init__(self, folder):
        self.folder = folder

    def save(self, state, *, is_main_process=False):
        if not is_main_process:
            return
        torch.save(state, f"{self.folder}/model.pt")


dist.init_process_group("gloo")
Saver("out").save({}, is_main_process=is_main_process())
