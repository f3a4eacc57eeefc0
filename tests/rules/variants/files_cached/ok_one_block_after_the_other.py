"""The process that goes first is alone in the block."""

import json
import os

from accelerate import Accelerator

accelerator = Accelerator()


def index_of(names, path):
    with accelerator.main_process_first():
        if os.path.isfile(path):
            with open(path) as file:
                return json.load(file)
        found = {name: number for number, name in enumerate(names)}
        if accelerator.is_main_process:
            with open(path, "w") as file:
                json.dump(found, file)
        return found
