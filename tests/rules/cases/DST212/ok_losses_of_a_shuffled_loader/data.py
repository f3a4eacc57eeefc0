# What the loop collects is only added up.
import torch
from torch.utils.data import DataLoader, Subset


class Pool:
    def __init__(self, data, fraction):
        self.data, self.fraction = data, fraction
        self.model = torch.nn.Linear(2, 1)

    def loss(self):
        loader = DataLoader(self.data, batch_size=32, shuffle=True)
        scores = []
        for x, _ in loader:
            scores.append(self.model(x).mean())
        return sum(scores) / len(scores), torch.stack(scores).mean()

    def get_labeled(self):
        mean, same = self.loss()
        count = int(self.fraction * len(self.data) * bool(mean < same))
        return Subset(self.data, range(count))
