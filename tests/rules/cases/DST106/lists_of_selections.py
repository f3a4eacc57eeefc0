import torch
import torch.distributed as dist


def hard(model, loader, parts):
    rows = []
    for x in loader:
        confidence = model(x).softmax(1).max(1).values
        rows.append(x[confidence < 0.5])
    mine = torch.cat(rows)
    dist.all_gather(parts, mine)  # expect: DST106


def whole(model, loader, parts):
    rows = []
    for x in loader:
        rows.append(model(x))
    dist.all_gather(parts, torch.cat(rows))


def filled(model, loader, parts, limit):
    rows = []
    for x in loader:
        rows.append(x[model(x) > limit])
    rows.append(torch.zeros(limit - sum(map(len, rows))))
    dist.all_gather(parts, torch.cat(rows))


def cut(model, x, parts):
    scores = model(x)
    mine = scores[scores > 0]
    mine = mine[:4]
    dist.all_gather(parts, mine)


def sized(model, x, world):
    scores = model(x)
    above = scores > 0
    mine = scores[above]
    sizes = [torch.zeros(1) for _ in range(world)]
    dist.all_gather(sizes, torch.tensor([len(mine)]))
    parts = [torch.empty(int(size)) for size in sizes]
    dist.all_gather(parts, mine)


def either(model, x, parts):
    scores = model(x)
    above = scores > 0
    mine = scores[above]
    if len(mine) < 4:
        mine = torch.cat([mine, scores.new_zeros(4 - len(mine))])
    dist.all_gather(parts, mine)


class Outliers:
    def collect(self, x):
        limit = x.mean()
        self.far = torch.argwhere(x > limit)
        self.all = x

    def share(self, parts):
        dist.all_gather(parts, self.far)  # expect: DST106
        dist.all_gather(parts, self.all)
