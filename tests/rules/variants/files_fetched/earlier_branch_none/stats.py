"""Statistics that are fetched."""

import io
import os

import requests

PRE_COMPUTED = "https://example.org/stats.npz"


def fetch(name, folder="pre"):
    if folder is None:
        return io.BytesIO(requests.get(PRE_COMPUTED).content)
    path = os.path.join(folder, os.path.basename(PRE_COMPUTED))
    if not os.path.exists(path):
        answer = requests.get(PRE_COMPUTED, timeout=10)
        with open(path, "wb") as file:
            file.write(answer.content)
    return path
