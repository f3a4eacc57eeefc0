# The most certain predictions become labels, by places in the order of a shuffled loader.
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader


class Pool:
    def __init__(self, data, fraction):
        generator = torch.Generator()
        generator.manual_seed(13)
        order = torch.randperm(len(data), generator=generator)
        self.labeled, self.unlabeled = deepcopy(data), deepcopy(data)
        self.labeled.images = [data.images[i] for i in order[: int(len(data) * fraction)]]
        self.labeled.masks = []

    @torch.no_grad()
    def rank_by_confidence(self, model, kind="hard"):
        assert kind in ["hard", "soft"]
        loader = DataLoader(self.unlabeled, batch_size=8, shuffle=True)  # expect: DST212
        found = []
        for x, _ in loader:
            scores = model(x)
            found.append(scores.cpu())
        found = torch.cat(found, 0)
        certain = F.softmax(found, 1).mean(-1).mean(-1).max(-1)[0]
        order = torch.argsort(certain)
        if kind == "hard":
            return order, found.argmax(1)
        return order, found

    def label(self, model, count):
        order, masks = self.rank_by_confidence(model)
        for i, (mask, place) in enumerate(zip(masks[:count], order)):
            self.labeled.images.append(self.unlabeled.images[place])
            self.labeled.masks.append(mask)

    def get_labeled(self):
        return deepcopy(self.labeled)
