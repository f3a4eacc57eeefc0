import torch


class Checkpoint:
    def __init__(self, output):
        self.output = output

    def save(self, step, header=None):
        if step > 100 and header is not None:
            torch.save(header.state_dict(), f"{self.output}/{step}.pth")  # expect: DST406
