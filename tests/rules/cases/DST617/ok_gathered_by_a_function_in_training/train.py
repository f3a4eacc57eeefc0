import torch
from accelerate import Accelerator
from helpers import collected


def train(accelerator, model, loader, optimizer):
    for inputs, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        accelerator.backward(loss)
        optimizer.step()
        accelerator.print(collected(accelerator, loss.detach()).mean())


@torch.no_grad()
def evaluate(accelerator, model, eval_loader, metric):
    model.eval()
    for inputs, labels in eval_loader:
        guesses = collected(accelerator, model(inputs).argmax(-1))
        metric.add_batch(guesses[: len(labels)], labels)
    return metric.compute()


def main(net, loader, optimizer):
    accelerator = Accelerator()
    model, loader, optimizer = accelerator.prepare(net, loader, optimizer)
    train(accelerator, model, loader, optimizer)
