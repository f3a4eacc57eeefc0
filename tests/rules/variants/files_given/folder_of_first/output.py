"""The folder."""

import os


def prepare(path, index):
    if index > 0:
        return
    if not os.path.exists(path):
        os.mkdir(path)
