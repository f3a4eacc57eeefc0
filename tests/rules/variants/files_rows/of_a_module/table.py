"""Tables of results."""

import csv
import os


class Table:
    def __init__(self, directory):
        self.path = os.path.join(directory, "table.csv")

    def write(self, rows):
        with open(self.path, "w") as file:
            writer = csv.writer(file)
            writer.writerows(rows)  # expect: DST406
