from lib import checkpoints


def fit(model):
    for epoch in range(3):
        checkpoints.keep(model, epoch)
