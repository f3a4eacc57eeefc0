import torch


def epoch(net, batches, optimizer):
    for batch in batches:
        loss = net.module.loss(batch)  # expect: DST613
        loss.backward()
        optimizer.step()


def epoch_by_forward(net, batches, optimizer):
    for batch in batches:
        output = net(batch)
        loss = net.module.loss(output)
        loss.backward()
        optimizer.step()


def evaluate(net, batches):
    return [net.module.loss(batch) for batch in batches]


def of_an_unknown_model(net, batches, optimizer):
    for batch in batches:
        loss = net.module.loss(batch)
        loss.backward()
        optimizer.step()


class Stepper:
    def __init__(self, net):
        self.net = net
