"""The backward pass begins at a sum, of which one term is kept."""

import torch
import torch.nn.functional as F


def commit(model, loader, opt, criterion, epochs, log):
    for epoch in range(epochs):
        total = 0.0
        for x in loader:
            y, commit_loss = model(x)
            loss = criterion(x, y) + commit_loss
            total += commit_loss  # expect: DST307
            opt.zero_grad()
            loss.backward()
            opt.step()
        log(total / len(loader))


def weighted(model, loader, opt, beta, log):
    divergences, reconstructions = [], 0
    for x in loader:
        out, mean, log_variance = model(x)
        rec = F.mse_loss(out, x)
        kl = model.divergence(mean, log_variance)
        loss = rec + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        reconstructions += rec  # expect: DST307
        divergences.append(kl)  # expect: DST307


def added_later(model, loader, opt):
    sum_aux = 0
    for x in loader:
        out = model(x)
        loss = F.cross_entropy(out, x)
        aux = model.balance(out)
        loss = loss + 0.01 * aux
        penalty = model.penalty()
        loss += penalty / 2
        loss.backward()
        opt.step()
        sum_aux = sum_aux + aux  # expect: DST307


class Trainer:
    def step(self):
        for x in self.loader:
            self.loss_a, self.loss_b = self.model(x)
            (self.loss_a + self.loss_b).backward()
            self.opt.step()
            self.total_b += self.loss_b  # expect: DST307


def divided(accelerator, model, loader, opt):
    total = 0
    for x in loader:
        rec, reg = model(x)
        loss = (rec + reg) / 4
        accelerator.backward(loss)
        opt.step()
        total += reg  # expect: DST307
