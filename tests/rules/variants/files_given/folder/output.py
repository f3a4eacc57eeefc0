"""The folder."""

import os


def prepare(path, rank):
    if not os.path.exists(path):
        os.mkdir(path)  # expect: DST414
