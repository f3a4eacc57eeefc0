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


def main():
    dist.init_process_group("gloo")
    model = Net()
    if dist.get_rank() == 0:
        model.train(mode=False)
        model(torch.ones(1, 2))
    dist.barrier()


main()
