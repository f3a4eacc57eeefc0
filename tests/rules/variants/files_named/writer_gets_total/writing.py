"""Writes samples."""

import numpy as np


def write(sample, folder, index):
    np.savez(f"{folder}/{index:06d}.npz", sample=sample)  # expect: DST406
