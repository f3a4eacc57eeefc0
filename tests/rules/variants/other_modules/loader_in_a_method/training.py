from torch.utils.data import DataLoader


class Training:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def fit(self, data):
        loader = DataLoader(data, 32, shuffle=True, drop_last=True)  # expect: DST202
        for batch in loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()
