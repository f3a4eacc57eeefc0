"""Names of files."""

import os


def file_of(folder, total):
    return os.path.join(folder, f"{total:06d}.npz")
