import torch


class Base:
    def __init__(self, model):
        self.model = model

    def run(self):
        self.keep()

    def keep(self):
        torch.save(self.model.state_dict(), "last.pt")
