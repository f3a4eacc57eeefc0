import torch
from accelerate import Accelerator
from helpers import collected


@torch.no_grad()
def evaluate(accelerator, model, eval_loader, metric):
    model.eval()
    for inputs, labels in eval_loader:
        guesses = model(inputs).argmax(-1)
        metric.add_batch(collected(accelerator, guesses), collected(accelerator, labels))
    return metric.compute()


def main(net, loader, metric):
    accelerator = Accelerator()
    model, eval_loader = accelerator.prepare(net, loader)
    print(evaluate(accelerator, model, eval_loader, metric))
