class Learner:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def learn(self, batch):
        return self._update(self.model(batch).mean())

    def _update(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
