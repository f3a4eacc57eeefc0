"""The twins: on one rank, to a file of each rank, to the terminal, to memory, appended, constant."""

import csv
import io
import sys
import tempfile

import torch.distributed as dist


class Log:
    def __init__(self, path, rank):
        self.rows = csv.writer(open(path, "w", newline="")) if rank == 0 else None

    def add(self, epoch, loss):
        if self.rows is not None:
            self.rows.writerow([epoch, loss])


def table(path, records, columns):
    with open(path, "w") as file:
        writer = csv.DictWriter(file, fieldnames=columns)
        writer.writeheader()
        writer.writerows(records)


def main(args, rows):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with open(f"rows_{rank}.csv", "w") as file:
        csv.writer(file).writerows(rows)
    with open("all.csv", "a") as file:
        csv.writer(file).writerow([rank, len(rows)])
    with open("columns.csv", "w") as file:
        csv.writer(file).writerow(["epoch", "loss"])
    csv.writer(sys.stdout).writerows(rows)
    buffer = io.StringIO()
    csv.DictWriter(buffer, ["a"]).writeheader()
    with tempfile.NamedTemporaryFile("w") as file:
        csv.writer(file).writerows(rows)
    with open("rows.csv") as file:
        known = list(csv.reader(file))
    if rank == 0:
        table("records.csv", known, args.columns)
    Log("log.csv", rank).add(1, args.loss)
    dist.destroy_process_group()
