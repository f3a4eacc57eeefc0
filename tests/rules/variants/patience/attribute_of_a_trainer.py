import torch
from accelerate import Accelerator


class Trainer:
    def __init__(self, accelerator, model, optimizer):
        self.accelerator, self.model, self.optimizer = accelerator, model, optimizer
        self.stop = False
        self.diverged = 0

    def train(self, batch):
        loss = self.model(batch).mean()
        self.accelerator.backward(loss)
        self.optimizer.step()
        if self.accelerator.is_main_process:
            if loss.item() > 5:
                self.diverged += 1
                if self.diverged >= 3:
                    self.stop = True


def main():
    accelerator = Accelerator()
    model = torch.nn.Linear(2, 2)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    trainer = Trainer(accelerator, model, optimizer)
    for _ in range(100):
        trainer.train(torch.randn(4, 2, device=accelerator.device))
        accelerator.wait_for_everyone()
        if trainer.stop:  # expect: DST110
            break


if __name__ == "__main__":
    main()
