"""A mean has the graph of what it is of, and so has a variable that holds nothing else."""

import torch


def sum_of_a_list(model, loader, opt):
    total, kept = 0, 0
    for x in loader:
        rec, kl, tv = model(x)
        loss = sum([rec, kl, tv])
        loss.backward()
        opt.step()
        total += tv  # expect: DST307
    for x in loader:
        a, b = model(x)
        loss = torch.stack([a, b]).sum()
        loss.backward()
        opt.step()
        kept += b  # expect: DST307


def mean(model, loader, opt):
    total, parts, again = 0, [], 0
    for x in loader:
        rec, kl = model(x)
        loss = (rec + kl).mean()
        loss.backward()
        opt.step()
        total += kl.mean()  # expect: DST307
        parts.append(rec.mean() / 4)  # expect: DST307
        shown = kl / 4
        again += shown  # expect: DST307


def mean_goes_backward(model, loader, opt):
    total = 0
    for x in loader:
        loss = model(x)
        loss.mean().backward()
        opt.step()
        total += loss.mean()  # expect: DST307
