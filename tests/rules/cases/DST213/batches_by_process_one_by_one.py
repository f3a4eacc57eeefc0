from accelerate import Accelerator
from torch.utils.data import DataLoader, Sampler


class Batches(Sampler):
    def __init__(self, lengths, size, proc, n_proc):
        self.lengths, self.size, self.proc, self.n_proc = lengths, size, proc, n_proc

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=self.lengths.__getitem__)
        chunks = [order[i : i + self.size] for i in range(0, len(order), self.size)]
        return iter(chunks[self.proc :: self.n_proc])


def main(raw, net):
    accelerator = Accelerator()
    batches = Batches(raw["length"], 16, accelerator.process_index, accelerator.num_processes)
    dl = DataLoader(raw, batch_sampler=batches)
    net, dl = [accelerator.prepare(each) for each in (net, dl)]  # expect: DST213
    for x in dl:
        accelerator.backward(net(x).mean())
