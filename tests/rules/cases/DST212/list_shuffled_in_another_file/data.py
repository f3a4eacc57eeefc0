import random


def files(folder):
    found = sorted(folder.iterdir())
    random.shuffle(found)  # expect: DST212
    return found
