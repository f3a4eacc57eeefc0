"""What is serialised to text or bytes first, and then written to a file that all ranks open."""

import gzip
import json
import pickle
from json import dumps
from pathlib import Path

import torch.distributed as dist
import yaml


def main(args, results, frame):
    dist.init_process_group("nccl")
    with open("config.json", "w") as writer:
        writer.write(json.dumps(vars(args)))  # expect: DST406
    with open("predictions.json", mode="w", encoding="utf-8") as output:
        output.write(json.dumps(results, indent=2) + "\n")  # expect: DST406
    with gzip.open("results.pkl.gz", "wb") as f:
        f.write(pickle.dumps(results))  # expect: DST406
    with Path(args.output, "results.jsonl").open("w") as lines:
        for result in results:
            print(result)
            lines.write(f"{dumps(result)}\n")  # expect: DST406
    text = yaml.safe_dump(vars(args))
    with open("args.yaml", "w") as f:
        f.write(text)  # expect: DST406
    open("sizes.json", "w").write(json.dumps(results))  # expect: DST406
    file = open("all.jsonl", "x")
    file.writelines([json.dumps(each) + "\n" for each in results])  # expect: DST406
    file.close()
    (Path(args.output) / "config.json").write_text(json.dumps(vars(args)))  # expect: DST406
    path = Path(args.output) / "results.pkl"
    path.write_bytes(data=pickle.dumps(results))  # expect: DST406
    with open("shown.json", "w") as f:
        print(json.dumps(results), file=f)  # expect: DST406
    keep(results, "kept.json")
    with open("twice.json", "w") as f:
        put(f, results)


def keep(results, path):
    with open(path, "w") as f:
        f.write(json.dumps(obj=results))  # expect: DST406


def put(f, results):
    f.write(json.dumps(results))  # expect: DST406


class Evaluator:
    def __init__(self, path):
        self.path = path
        self.file = open(path, "w")

    def evaluate(self, results):
        dist.barrier()
        encoded = json.dumps(results).encode()
        with open(self.path, "wb") as f:
            f.write(encoded)  # expect: DST406
        self.file.write(json.dumps(results))  # expect: DST406
