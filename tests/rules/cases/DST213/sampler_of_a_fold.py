from accelerate import Accelerator
from torch.utils.data import DataLoader, Sampler


class Batches(Sampler):
    def __init__(self, lengths, size, fold, folds):
        self.lengths, self.size, self.fold, self.folds = lengths, size, fold, folds

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=self.lengths.__getitem__)
        return iter(order[self.fold :: self.folds])


def main(raw, net, fold):
    accelerator = Accelerator()
    dl = DataLoader(raw, batch_sampler=Batches(raw["length"], 16, fold, 5))
    net, dl = accelerator.prepare(net, dl)
    for x in dl:
        accelerator.backward(net(x).mean())
