import deepspeed
import torch


class Base:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader

    def start(self, config):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)
        self.model, self.optimizer, _, _ = deepspeed.initialize(
            model=self.model, optimizer=optimizer, config=config
        )

    def train(self):
        for batch in self.loader:
            loss = self.model(batch).mean()
            self.model.backward(loss)
            self.model.step()
