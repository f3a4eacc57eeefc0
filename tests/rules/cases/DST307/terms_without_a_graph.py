"""What is kept is no term of the loss with a graph."""

import torch
import torch.nn.functional as F


def numbers(model, loader, opt, anneal):
    weights, total, sum_rec, sum_kl, sum_mask = [], 0, 0, 0, 0
    for step, x in enumerate(loader):
        rec, kl = model(x)
        mask = (x != 0).float().mean()
        weight = anneal(step)
        loss = rec * mask + weight * kl
        loss.backward()
        opt.step()
        weights.append(weight)
        sum_mask += mask
        sum_kl += kl.item()
        rec = rec.item()
        sum_rec += rec
        total += loss.detach()


def constants(model, loader, opt, margin):
    used = 0
    for x in loader:
        loss = model(x) + margin
        loss.backward()
        opt.step()
        used += margin


def detached(model, loader, opt):
    kept = 0
    for x in loader:
        rec = model(x)
        with torch.no_grad():
            offset = model.offset(x)
        shift = model.shift(x).detach()
        loss = rec + offset + shift
        loss.backward()
        opt.step()
        kept += offset
        kept += shift


def sum_goes_backward(model, loader, opt):
    for x in loader:
        total = 0
        for part in x:
            a, b = model(part)
            total += a
            total += b
        total.backward()
        opt.step()


def of_one_step(model, loader, opt):
    for x in loader:
        shown = 0
        for part in x.chunk(4):
            a, b = model(part)
            loss = a + b
            loss.backward()
            shown += b
        opt.step()
        print(shown.item())
