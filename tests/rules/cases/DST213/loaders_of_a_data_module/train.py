from accelerate import Accelerator
from data import DataModule


def main(ds, net):
    acc = Accelerator()
    dm = DataModule(ds)
    net, loader = acc.prepare(net, dm.train_loader())  # expect: DST213
    for x in loader:
        acc.backward(net(x).mean())


def other(ds, net):
    acc = Accelerator()
    dm = DataModule(ds)
    net, loader = acc.prepare(net, dm.train)  # expect: DST213
    for x in loader:
        acc.backward(net(x).mean())
