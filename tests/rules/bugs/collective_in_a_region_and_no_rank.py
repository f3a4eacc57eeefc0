"""A region that lets one rank go first, in a file that names no rank."""

from accelerate import Accelerator


def main(dataset):
    accelerator = Accelerator()
    with accelerator.main_process_first():
        dataset = dataset.map(len)
        accelerator.gather(dataset)  # expect: DST112
    return dataset
