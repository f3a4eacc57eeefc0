"""The folder."""

import os


def prepare(path, name):
    path = os.path.join(path, name)
    if not os.path.exists(path):
        os.mkdir(path)
