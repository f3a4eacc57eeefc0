"""The list is of one batch: the loop inside goes over heads, not over batches."""

import torch


def train(loader, backbone, heads, optimizers, log):
    for x, y in loader:
        feat = backbone(x).detach()
        losses = []
        for head, optimizer in zip(heads, optimizers):
            loss = torch.nn.functional.cross_entropy(head(feat), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss)
        for i, loss in enumerate(losses):
            log(i, loss.item())


class Trainer:
    def epoch(self):
        for step, batch in enumerate(tqdm(self.train_loader)):
            total = 0
            for name in self.heads:
                loss = self.heads[name](batch)
                self.optimizers[name].zero_grad()
                loss.backward()
                self.optimizers[name].step()
                total += loss
            self.log(step, total.item())


def fetched(data_iter, critic, optimizer, steps):
    for _ in range(steps):
        images = next(data_iter)
        lost = 0
        for _ in range(5):
            loss = critic(images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            lost = lost + loss
        print(lost.item())


def chunks(loader, model, optimizer):
    for batch in loader:
        kept = []
        for part in batch.chunk(4):
            loss = model(part)
            loss.backward()
            optimizer.step()
            kept.append(loss)
        print(sum(kept).item())
