import torch
from accelerate import Accelerator
from sklearn.metrics import f1_score


def main(net, val_loader):
    accelerator = Accelerator()
    net, val_loader = accelerator.prepare(net, val_loader)
    guesses, truths = [], []
    with torch.no_grad():
        for inputs, labels in val_loader:
            guesses.extend(net(inputs).argmax(-1).tolist())
            truths.extend(labels.tolist())
    score = torch.tensor(f1_score(truths, guesses), device=accelerator.device)
    scores = accelerator.gather(score)
    accelerator.print("F1 of each rank", scores.tolist())
