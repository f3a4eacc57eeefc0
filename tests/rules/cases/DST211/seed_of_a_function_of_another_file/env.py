import os


def own_seed(base):
    return base + int(os.environ["RANK"])
