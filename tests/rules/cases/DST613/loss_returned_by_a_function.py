import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net):
        self.wrapper = DDP(net)
        self.net = self.wrapper.module

    def loss(self, batch):
        output = self.net(batch)  # expect: DST613
        return output.mean()

    def total(self, batch):
        loss = self.loss(batch)
        return loss + 0.1 * loss.abs()

    def fit(self, batches):
        for batch in batches:
            total = self.total(batch)
            total.backward()
            self.optimizer.step()


class Other:
    def __init__(self, net):
        self.wrapper = DDP(net)
        self.net = self.wrapper.module

    def penalty(self, output):
        return self.net.penalty(output)

    def fit(self, batches):
        for batch in batches:
            output = self.wrapper(batch)
            self.penalty(output).backward()

    def score(self, batch):
        return self.net(batch).mean()

    @torch.no_grad()
    def evaluate(self, batches):
        return [self.score(batch) for batch in batches]


def loss_of(model, batch):
    return model(batch).mean()


def train(net, batches):
    model = DDP(net)
    for batch in batches:
        loss_of(model, batch).backward()
    print(loss_of(model.module, batches[0]))


def features(model, batch):
    return model.module.features(batch)  # expect: DST613


def train_by_features(net, batches):
    model = DDP(net)
    for batch in batches:
        found = features(model, batch)
        loss = found.pow(2).mean()
        loss.backward()


def train_by_a_function_elsewhere(net, batches, objective):
    model = DDP(net)
    for batch in batches:
        loss = objective(model, batch) + model.module.penalty()
        loss.backward()
