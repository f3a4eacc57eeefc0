import torch


class Base:
    def __init__(self, model):
        self.model = model

    def run(self):
        for _ in range(3):
            self.step()
        self.keep()

    def keep(self):
        torch.save(self.model.state_dict(), "last.pt")  # expect: DST406
