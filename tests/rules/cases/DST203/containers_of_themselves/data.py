from torch.utils.data import DataLoader, DistributedSampler


class Box:
    def __init__(self, inner, data):
        self.inner = Box(self, data)
        self.loader = DataLoader(data, sampler=DistributedSampler(data))  # expect: DST203
        self.me = self


def make(data, depth=0):
    sampler = DistributedSampler(data)  # expect: DST203
    loader = DataLoader(data, sampler=sampler)
    state = {"next": None}
    for k in range(5):
        state = state["next"]
    for k in range(5):
        loader = (loader, loader)
    for k in range(5):
        sampler = {"a": sampler, "b": loader}
    tree = [loader]
    while depth:
        tree = [tree, {"x": tree, "loader": loader}]
        loader = loader["x"]
    if depth > 3:
        return make(data, depth - 1)["loader"]
    return {"loader": loader, "tree": tree, "sampler": sampler, "state": state}


def again(thing):
    thing = thing["tree"]
    return other(thing)["sampler"]


def other(thing):
    return again(thing["x"])
