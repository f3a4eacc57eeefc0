"""Each rank reads a file of its own, line by line."""

import json

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
with open(f"shard-{rank:03d}.jsonl") as lines:
    texts = [json.loads(line)["text"] for line in lines]
done = 0
while done < len(texts):  # expect: DST109
    size = torch.tensor(len(texts[done]))
    dist.all_reduce(size)
    done += 8
