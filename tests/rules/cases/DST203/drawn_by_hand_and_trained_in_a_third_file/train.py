import torch, torch.distributed as dist
from mydata import Data
from mytrainer import Trainer


def main():
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    data = Data(list(range(10)))
    trainer = Trainer(model, opt)
    trainer.prepare(data)
    for epoch in range(3):
        it = iter(data.loader)
        for _ in range(len(data.loader)):
            batch = next(it)
            trainer.step(batch, epoch)


if __name__ == "__main__":
    main()
