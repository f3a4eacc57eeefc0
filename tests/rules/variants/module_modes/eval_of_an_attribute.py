import torch
import torch.distributed as dist


class Quantizer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.usage = torch.nn.Linear(2, 2)

    def forward(self, x):
        if self.training:
            dist.all_reduce(x)
        return self.usage(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quantizer = Quantizer()

    def forward(self, x):
        return self.quantizer(x)


class Trainer:
    def __init__(self):
        self.model = Net()
        self.rank = dist.get_rank()

    def validate(self):
        self.model.eval()
        if self.rank == 0:
            self.model(torch.ones(1, 2))
        self.model.train()
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    Trainer().validate()


main()
