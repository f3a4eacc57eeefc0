from accelerate import Accelerator
from data import make


class T:
    def __init__(self, ds, net):
        self.acc = Accelerator()
        self.loader = make(ds, self.acc.process_index, self.acc.num_processes, 4)
        self.net, self.loader = self.acc.prepare(net, self.loader)  # expect: DST213

    def fit(self):
        for x in self.loader:
            self.acc.backward(self.net(x).mean())
