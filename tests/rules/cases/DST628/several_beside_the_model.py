import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Prompt(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self, model, loader):
        self.loader = loader
        self.model = DDP(model)
        self.prompts = nn.ModuleList([Prompt(4) for _ in range(3)]).to("cuda")  # expect: DST628
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.1)

    def train(self):
        for batch in self.loader:
            self.optimizer.zero_grad()
            loss = self.step(batch)
            loss.backward()
            self.optimizer.step()

    def step(self, batch):
        return self.model(self.prompts[0](batch)).mean()
