import json

import torch.distributed as dist
from turns import LeaderFirst, leader_first, timed


def words(data):
    with leader_first() as leader:
        if leader:
            with open("words.json", "w") as file:
                json.dump(sorted(set(data)), file)
        with open("words.json") as file:
            return json.load(file)


def labels(data):
    with LeaderFirst() as leader:
        if leader:
            with open("labels.json", "w") as file:
                json.dump(sorted(set(data)), file)
        with open("labels.json") as file:
            return json.load(file)


def kinds(data):
    turn = leader_first()
    with turn as leader:
        if leader:
            with open("kinds.json", "w") as file:
                json.dump(sorted(set(data)), file)
        with open("kinds.json") as file:
            return json.load(file)


def sizes(data):
    with timed():
        if dist.get_rank() == 0:
            with open("sizes.json", "w") as file:
                json.dump(sorted(set(data)), file)
        with open("sizes.json") as file:  # expect: DST408
            return json.load(file)


def written_and_read(data):
    if dist.get_rank() == 0:
        with open("names.json", "w") as file:
            json.dump(sorted(set(data)), file)
    with open("names.json") as file:
        return json.load(file)


def called_in_turn(data):
    with leader_first():
        return written_and_read(data)
