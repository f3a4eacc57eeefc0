"""The twin: without a path, the table is returned as text."""

import pandas
import torch.distributed as dist


def report(rows):
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, rows)
    frame = pandas.DataFrame([row for part in gathered for row in part])
    print(frame.to_csv())
    settings = frame.attrs["settings"]
    print(settings.to_json())
    return frame.to_json(orient="records")
