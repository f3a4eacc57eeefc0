"""Train a small classifier with Accelerate.

Run it with `torchrun --standalone --nproc-per-node 2 examples/accelerate_style/correct.py`.
"""

import argparse
import datetime
import os
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import InitProcessGroupKwargs, set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_loaders(batch_size):
    inputs = torch.randn(160, 8)
    labels = (inputs.sum(-1) > 0).long()
    train = TensorDataset(inputs[:120], labels[:120])
    valid = TensorDataset(inputs[120:], labels[120:])
    return DataLoader(train, batch_size, shuffle=True), DataLoader(valid, batch_size)


def evaluate(accelerator, model, loader):
    model.eval()
    hits = seen = 0
    for inputs, labels in loader:
        with torch.no_grad():
            guesses = model(inputs).argmax(-1)
        guesses, labels = accelerator.gather_for_metrics((guesses, labels))
        hits += (guesses == labels).sum().item()
        seen += len(labels)
    return hits / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--target", type=float, default=0.35)
    parser.add_argument("--output-dir", default=tempfile.gettempdir())
    args = parser.parse_args()

    # Give up after a few seconds, so that a hang shows while you watch (the default is minutes).
    limit = InitProcessGroupKwargs(timeout=datetime.timedelta(seconds=10))
    accelerator = Accelerator(cpu=not torch.cuda.is_available(), kwargs_handlers=[limit])
    set_seed(0)
    train_loader, valid_loader = make_loaders(args.batch_size)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model, optimizer, train_loader, valid_loader = accelerator.prepare(
        model, optimizer, train_loader, valid_loader
    )
    loss_function = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        model.train()
        for inputs, labels in train_loader:
            loss = loss_function(model(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        accuracy = evaluate(accelerator, model, valid_loader)
        accelerator.print(f"epoch {epoch}: accuracy {accuracy:.3f}")
        if loss.item() < args.target:
            accelerator.set_trigger()
        if accelerator.check_trigger():  # true on all processes as soon as one has asked
            break

    accelerator.wait_for_everyone()
    state = accelerator.unwrap_model(model).state_dict()
    accelerator.save(state, os.path.join(args.output_dir, "classifier.pt"))
    accelerator.end_training()


if __name__ == "__main__":
    main()
