"""What is clipped is zero, or will be."""

import torch
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_, clip_grad_value_


def plain(model, loader, opt):
    for x in loader:
        opt.zero_grad(set_to_none=True)
        loss = model(x).mean()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
        loss.backward()
        opt.step()


def zeroed_behind_the_clip(model, loader, opt, limit):
    for x in loader:
        loss = model(x).mean()
        if limit:
            clip_grad_value_(model.parameters(), limit)  # expect: DST615
        opt.zero_grad()
        loss.backward()
        opt.step()


def zeroed_at_the_end(model, loader, optimizer, scaler):
    for x in loader:
        with torch.autocast("cuda"):
            loss = model(x).mean()
        clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


class Trainer:
    def step(self, batch):
        self.model.zero_grad()
        loss = self.criterion(self.model(batch))
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5)  # expect: DST615
        loss.backward()
        self.optimizer.step()
        return loss.item()


def parts(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
        for part in batch:
            model(part).mean().backward()
        optimizer.step()


def in_the_closure(model, loader, optimizer):
    for batch in loader:

        def closure():
            optimizer.zero_grad()
            loss = model(batch).mean()
            clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
            loss.backward()
            return loss

        optimizer.step(closure)


def sharded(model, loader, optimizer):
    model = FSDP(model)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        model.clip_grad_norm_(1.0)  # expect: DST615
        loss.backward()
        optimizer.step()


def one_of_two_branches(model, loader, optimizer, scaler, mixed):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        if mixed:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
        else:
            clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
            loss.backward()
            optimizer.step()
