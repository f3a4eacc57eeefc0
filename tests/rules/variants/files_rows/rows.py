"""All ranks write rows of a table, in several ways."""

import csv

import torch.distributed as dist


class Log:
    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.rows = csv.writer(self.file)

    def add(self, epoch, loss):
        self.rows.writerow([epoch, loss])  # expect: DST406


def table(path, records, columns):
    with open(path, "w") as file:
        writer = csv.DictWriter(file, fieldnames=columns)
        writer.writeheader()  # expect: DST406
        writer.writerows(records)


def main(args, rows):
    dist.init_process_group("gloo")
    with open("rows.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["epoch", "loss"])
        for row in rows:
            writer.writerow(row)  # expect: DST406
    with open(args.name + "_options.csv", "w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(vars(args).items())  # expect: DST406
    file = open("last.csv", "w")
    out = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
    out.writerows(rows)  # expect: DST406
    table("records.csv", rows, args.columns)
    Log("log.csv").add(1, args.loss)
    dist.destroy_process_group()
