import torch


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, seen = 0, 0
    for inputs, labels in loader:
        right += model(inputs).argmax(-1).eq(labels).sum().item()
        seen += len(labels)
    return right / seen  # expect: DST617
