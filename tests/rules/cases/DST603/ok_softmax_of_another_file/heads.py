import torch
import torch.nn.functional as F


def predict(logits):
    return F.softmax(logits, dim=-1)


def score(logits):
    return torch.sigmoid(logits)
