class Trainer:
    def __init__(self, model, loader, optimizer):
        self.model = model
        self.loader = loader
        self.optimizer = optimizer

    def fit(self, epochs):
        for epoch in range(epochs):
            self.run(epoch)

    def run(self, epoch):
        for batch in self.loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()
