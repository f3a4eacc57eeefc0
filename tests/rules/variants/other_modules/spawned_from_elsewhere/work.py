import os


def worker(index, path):
    if not os.path.exists(path):
        os.makedirs(path)  # expect: DST414
