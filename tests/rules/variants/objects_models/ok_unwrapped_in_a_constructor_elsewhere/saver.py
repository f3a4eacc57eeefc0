import torch
from torch.nn.parallel import DataParallel, DistributedDataParallel


class Saver:
    def __init__(self, model, path):
        if isinstance(model, (DistributedDataParallel, DataParallel)):
            model = model.module
        self.model = model
        self.path = path

    def save(self):
        state = {}
        state["model"] = self.model.state_dict()
        torch.save(state, self.path)
