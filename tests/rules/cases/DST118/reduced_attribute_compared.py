import torch.distributed as dist


class Plateau:
    def adjust(self):
        dist.reduce(self.total, dst=0)
        value = self.total.item() / 8  # expect: DST118
        if value < self.best:
            self.best = value

    def on_destination(self):
        dist.reduce(self.total, dst=0)
        if self.rank == 0:
            print(self.total.item())

    def replaced(self):
        dist.reduce(self.total, dst=0)
        self.total = self.fresh()
        if self.total > 0:
            self.best = 0

    def other_attribute(self):
        dist.reduce(self.total, dst=0)
        if self.count > 0:
            self.best = 0
