import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, Subset


def loader_of(data):
    rank, world = dist.get_rank(), dist.get_world_size()
    return DataLoader(Subset(data, range(rank, len(data), world)), batch_size=8)


def gathered_in_a_list(model, data):
    found = {"guess": [], "truth": []}
    with torch.no_grad():
        for x, y in loader_of(data):
            found["guess"].extend(model(x).argmax(1).tolist())
            found["truth"].extend(y.tolist())
    score = torch.tensor(f1_score(found["truth"], found["guess"])).cuda()
    scores = [torch.zeros_like(score) for _ in range(dist.get_world_size())]
    dist.all_gather(scores, score)  # expect: DST617
    return sum(scores).item() / len(scores)


def objects_in_a_list(model, data):
    guesses, truths = [], []
    with torch.no_grad():
        for x, y in loader_of(data):
            guesses += model(x).argmax(1).tolist()
            truths += y.tolist()
    scores = [None] * dist.get_world_size()
    dist.all_gather_object(scores, f1_score(truths, guesses))  # expect: DST617
    return sum(scores) / len(scores)


def each_listed(model, data):
    guesses, truths = [], []
    with torch.no_grad():
        for x, y in loader_of(data):
            guesses += model(x).argmax(1).tolist()
            truths += y.tolist()
    scores = [None] * dist.get_world_size()
    dist.all_gather_object(scores, f1_score(truths, guesses))
    return scores


def of_all(model, data):
    guesses, truths = [], []
    with torch.no_grad():
        for x, y in loader_of(data):
            guesses += model(x).argmax(1).tolist()
            truths += y.tolist()
    every = [None] * dist.get_world_size()
    dist.all_gather_object(every, (guesses, truths))
    guesses = [each for part, _ in every for each in part]
    truths = [each for _, part in every for each in part]
    return f1_score(truths, guesses)
