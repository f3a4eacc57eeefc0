"""The loop around goes over epochs, folds or files: one of its turns is many steps."""

import torch


def folds(splits, dataset, make, optimizer):
    for fold, (chosen, _) in enumerate(splits):
        model = make(fold)
        losses = []
        for batch in torch.utils.data.DataLoader(torch.utils.data.Subset(dataset, chosen)):
            loss = model(batch)
            loss.backward()
            optimizer.step()
            losses.append(loss)  # expect: DST307


def files(paths, model, optimizer):
    for path in paths:
        total = 0
        for batch in torch.load(path):
            loss = model(batch)
            loss.backward()
            optimizer.step()
            total += loss  # expect: DST307


def tasks(loaders, model, optimizer):
    for task, loader in enumerate(loaders):
        total = 0
        for batch in loader:
            loss = model(batch, task)
            loss.backward()
            optimizer.step()
            total += loss  # expect: DST307


def epochs(loader, model, optimizer, schedule):
    for epoch in range(3):
        rate = schedule(epoch)
        total = 0
        for batch in loader:
            loss = model(batch) * rate
            loss.backward()
            optimizer.step()
            total += loss  # expect: DST307


def of_all_batches(loader, heads, optimizer):
    losses = []
    for batch in loader:
        for head in heads:
            loss = head(batch)
            loss.backward()
            optimizer.step()
            losses.append(loss)  # expect: DST307
