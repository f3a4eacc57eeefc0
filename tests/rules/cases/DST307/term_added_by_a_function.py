"""The function that adds the terms up is read for what it adds."""

import torch.nn.functional as F
from torch import nn


def of_generator(commit_loss, made, given):
    rec_loss = (made - given).abs().mean()
    return rec_loss + 100 * commit_loss, rec_loss


def train(model, loader, opt):
    total = 0.0
    for x in loader:
        made, commit_loss = model(x)
        loss, rec_loss = of_generator(commit_loss, made, x)
        total += commit_loss  # expect: DST307
        opt.zero_grad()
        loss.backward()
        opt.step()


def other_names(net, batches, optimizer):
    """one result"""

    def whole(a, b):
        return a + 0.5 * b

    seen = []
    for item in batches:
        first, second = net(item)
        value = whole(first, second)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        seen.append(second)  # expect: DST307


class Trainer:
    def combine(self, rec, kl):
        return rec + self.beta * kl

    def method(self):
        for x in self.loader:
            rec, kl = self.model(x)
            loss = self.combine(rec, kl)
            loss.backward()
            self.opt.step()
            self.kl_sum += kl  # expect: DST307


def inner(a, b):
    total = a
    total = total + b
    return total


def outer(a, b, c):
    return inner(a, b) + c


def one_call_deeper(model, loader, opt):
    total = 0
    for x in loader:
        rec, kl, tv = model(x)
        loss = outer(rec, kl, tv)
        loss.backward()
        opt.step()
        total += kl  # expect: DST307


def keywords(model, loader, opt):
    total = 0
    for x in loader:
        rec, kl = model(x)
        loss = inner(b=kl, a=rec)
        loss.backward()
        opt.step()
        total += kl  # expect: DST307


def terms(model, x):
    out, mean, var = model(x)
    rec = F.mse_loss(out, x)
    kl = model.divergence(mean, var)
    loss = rec + kl
    return loss, rec, kl


def terms_returned(model, loader, opt):
    sum_kl, recs = 0, []
    for x in loader:
        loss, rec, kl = terms(model, x)
        loss.backward()
        opt.step()
        sum_kl += kl  # expect: DST307
        recs.append(rec)  # expect: DST307


class Criterion(nn.Module):
    def forward(self, out, target, aux):
        ce = F.cross_entropy(out, target)
        return ce + 0.1 * aux


def module(model, loader, opt):
    criterion = Criterion()
    aux_total = 0
    for x, y in loader:
        out, aux = model(x)
        loss = criterion(out, y, aux)
        loss.backward()
        opt.step()
        aux_total += aux  # expect: DST307


def weighted(rec, kl, beta=0.5):
    loss = rec
    loss += beta * kl
    return loss


def weight_by_default(accelerator, model, loader, opt):
    total = 0
    for x in loader:
        rec, kl = model(x)
        loss = weighted(rec, kl)
        accelerator.backward(loss)
        opt.step()
        total = total + kl  # expect: DST307


def inside_a_sum(model, loader, opt, scaler):
    total = 0
    for x in loader:
        rec, kl, tv = model(x)
        loss = rec + inner(kl, tv)
        scaler.scale(loss).backward()
        scaler.step(opt)
        total += tv  # expect: DST307
