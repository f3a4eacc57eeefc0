import os
import random

import torch


def load_list(path):
    if not os.path.exists(path):
        raise FileNotFoundError(path)
    with open(path) as file:
        return [line.strip() for line in file]


def visualise(images, count=3):
    chosen = random.sample(range(len(images)), count)
    return [images[index] for index in chosen]


def evaluate(model, batches, path, verbose=False):
    names = load_list(path) if os.path.exists(path) else []
    results = {}
    for index, batch in enumerate(batches):
        try:
            output = model(batch)
        except ValueError:
            continue
        if verbose and index % 10 == 0:
            print(index, output.shape)
        name = names[index] if index < len(names) else str(index)
        results[name] = output.mean().item()
    return results
