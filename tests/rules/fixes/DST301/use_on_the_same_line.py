import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size


def main():
    accelerator = Accelerator(cpu=True)
    moments = []
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer = accelerator.prepare(model, optimizer)

    @find_executable_batch_size(starting_batch_size=8)
    def train(batch_size):  # expect: DST301
        accelerator.free_memory(); moments.append(len(optimizer.state))
        for step in range(3):
            if batch_size > 7 and step == 2:
                raise RuntimeError("CUDA out of memory.")
            accelerator.backward(model(torch.ones(batch_size, 2)).mean())
            optimizer.step()

    train()
    assert moments == [0, 0], "trained on from the failed attempt"


main()
