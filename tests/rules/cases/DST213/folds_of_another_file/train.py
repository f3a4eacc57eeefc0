from accelerate import Accelerator
from data import make


def main(ds, net, fold, folds):
    acc = Accelerator()
    loader = make(ds, fold, folds, 4)
    net, loader = acc.prepare(net, loader)
    for x in loader:
        acc.backward(net(x).mean())
