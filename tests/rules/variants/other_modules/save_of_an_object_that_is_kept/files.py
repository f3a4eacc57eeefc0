import torch


class Weights:
    def __init__(self, path):
        self.path = path

    def save(self, model):
        torch.save(model.state_dict(), self.path)  # expect: DST406
