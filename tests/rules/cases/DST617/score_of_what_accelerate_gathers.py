import torch
from accelerate import Accelerator
from sklearn.metrics import f1_score


def main(net, val_loader):
    accelerator = Accelerator()
    net, val_loader = accelerator.prepare(net, val_loader)
    guesses, truths = [], []
    with torch.no_grad():
        for inputs, labels in val_loader:
            found, labels = accelerator.gather_for_metrics((net(inputs).argmax(-1), labels))
            guesses.extend(found.tolist())
            truths.extend(labels.tolist())
    score = f1_score(truths, guesses)
    accelerator.print("F1", score)
