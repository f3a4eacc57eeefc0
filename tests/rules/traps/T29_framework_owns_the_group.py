"""T29. Nobody destroys the group, because a framework owns it."""
# needs: transformers
# static: transformers is not among the packages that the tests install

import torch
from transformers import Trainer, TrainingArguments


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return {"x": torch.tensor([float(index)]), "labels": torch.tensor([float(index) ** 2])}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x, labels):
        out = self.layer(x)
        return {"loss": (out - labels).pow(2).mean(), "logits": out}


args = TrainingArguments("out", max_steps=3, report_to=[], use_cpu=True)
trainer = Trainer(model=Net(), args=args, train_dataset=Squares())
trainer.train()
