"""Reads a basis."""

import json
import os


def read(path, savefile=False):
    basis = {"path": os.path.abspath(path)}
    if savefile:
        with open(path + "/basis.json", "w") as file:
            json.dump(basis, file)  # expect: DST406
    return basis
