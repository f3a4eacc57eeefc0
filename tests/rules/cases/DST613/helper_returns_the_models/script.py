import helpers
from accelerate import Accelerator


def train(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    (model,) = helpers.without_ddp([model])
    for batch in loader:
        with accelerator.autocast():
            guess = model(batch)
        accelerator.backward(guess.mean())
