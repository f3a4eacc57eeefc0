"""What the function returns has no graph, or is kept for one step."""

import torch


def detached(model, batch, opt):
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    return loss.detach()


def number(model, batch, opt):
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    loss = loss.item()
    return loss


def other(model, batch, opt):
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    acc = (batch > 0).sum()
    return acc


def graph(model, batch, opt):
    loss = model(batch).mean()
    loss.backward()
    opt.step()
    return loss


def kept_without_a_graph(model, loader, opt):
    total, accs = 0, 0
    for batch in loader:
        loss = detached(model, batch, opt)
        total += loss
        value = number(model, batch, opt)
        total += value
        acc = other(model, batch, opt)
        accs += acc
        shown = graph(model, batch, opt)
        total += shown.item()
        late = graph(model, batch, opt)
        late = late.item()
        total += late


def of_one_batch(heads, loader, opt):
    for batch in loader:
        losses = []
        for head in heads:
            loss = graph(head, batch, opt)
            losses.append(loss)
        print(sum(losses))


def emptied(model, loader, opt):
    losses = []
    for step, batch in enumerate(loader):
        loss = graph(model, batch, opt)
        losses.append(loss)
        if step % 10 == 0:
            print(sum(losses) / 10)
            losses.clear()


def only_backward(model, batch):
    loss = model(batch)
    loss.backward()
    return loss


def few(model, batches, opt):
    for batch in batches:
        total = 0
        for part in batch.chunk(4):
            loss = only_backward(model, part)
            total += loss
        opt.step()
