from accelerate import Accelerator
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, raw, net, optimizer):
        self.accelerator = Accelerator()
        rank, size = self.accelerator.process_index, self.accelerator.num_processes
        self.loader = DataLoader(split_dataset_by_node(raw, rank, size), batch_size=4)
        self.net, self.optimizer = net, optimizer

    def prepare(self):
        self.loader, self.net, self.optimizer = self.accelerator.prepare(  # expect: DST213
            self.loader, self.net, self.optimizer
        )

    def train(self):
        for x in self.loader:
            self.accelerator.backward(self.net(x).mean())
