from accelerate import Accelerator

accelerator = Accelerator()


class Trainer:
    def __init__(self, net):
        self.net = net
        self.net = accelerator.prepare(self.net)

    def train(self, loader):
        for x in loader:
            loss = self.net(x)
            loss.backward()
        self.net = accelerator.unwrap_model(self.net)
