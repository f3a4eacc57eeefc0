import torch
from accelerate import Accelerator
from metrics import compute


class Evaluator:
    def __init__(self):
        self.accelerator = Accelerator()

    def evaluate(self):
        value = 0
        if self.accelerator.is_main_process:
            value = compute("val")
            print(value)
        value = torch.tensor(value, device=self.accelerator.device)
        value = self.accelerator.reduce(value, reduction="sum")  # expect: DST111
        return value.item()
