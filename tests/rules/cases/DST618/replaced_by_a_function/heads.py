import torch


def widen(model, classes):
    model.fc = torch.nn.Linear(512, classes)
    return model


def describe(model):
    model.note = "wide"
