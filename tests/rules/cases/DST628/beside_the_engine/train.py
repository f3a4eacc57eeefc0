import deepspeed
import torch.nn as nn

from base import Base


class Tasks(Base):
    def __init__(self, model, loader, count):
        super().__init__(model, loader)
        self.mlps = nn.ModuleList(nn.Linear(4, 4) for _ in range(count)).cuda()  # expect: DST628

    def choose(self, task):
        for index, mlp in enumerate(self.mlps):
            if index != task:
                for p in mlp.parameters():
                    p.requires_grad = False
            else:
                for p in mlp.parameters():
                    p.requires_grad = True

    def train(self):
        for batch in self.loader:
            mlp = self.mlps[0]
            loss = self.model(mlp(batch)).mean()
            self.model.backward(loss)
            self.model.step()
