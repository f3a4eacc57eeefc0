"""Text that one rank writes, that each rank writes to its file, or that goes elsewhere."""

import io
import json
import pickle
import socket
import sys
from pathlib import Path

import torch.distributed as dist


def main(args, results, logger, queue):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    if rank == 0:
        with open("config.json", "w") as writer:
            writer.write(json.dumps(vars(args)))
        Path("results.json").write_text(json.dumps(results))
    with open(f"predictions_{rank}.json", "w") as output:
        output.write(json.dumps(results) + "\n")
    Path(args.output, f"{rank}.pkl").write_bytes(pickle.dumps(results))
    (Path(args.output) / f"{rank}.json").write_text(json.dumps(results))
    with open("log.jsonl", "a") as log:
        log.write(json.dumps(results) + "\n")
    with Path("log.jsonl").open("a") as log:
        log.write(json.dumps(results) + "\n")
    with open("log.jsonl", mode="ab+") as log:
        log.write(json.dumps(results).encode())
    open(f"sizes_{rank}.json", "w").write(json.dumps(results))
    memory = io.StringIO()
    memory.write(json.dumps(results))
    sys.stdout.write(json.dumps(results))
    print(json.dumps(results))
    print(json.dumps(results), file=sys.stderr)
    logger.write(json.dumps(results))
    queue.write(pickle.dumps(results))
    with socket.create_connection(("localhost", 80)).makefile("w") as peer:
        peer.write(json.dumps(results))
    with open(f"/dev/shm/{rank}", "w") as f:
        put(f, results)
    return json.dumps(results)


def put(f, results):
    f.write(json.dumps(results))


def of_one_process(results):
    with open("results.json", "w") as f:
        f.write(json.dumps(results))
