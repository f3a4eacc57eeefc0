"""With even_batches=False, ranks have as many batches where the loader drops the last one."""

from accelerate import Accelerator
from data import all_batches, whole_batches


def train(accelerator, model, loader):
    for batch in loader:
        accelerator.backward(model(batch))


def main(args):
    accelerator = Accelerator(even_batches=False)  # expect: DST107
    model, whole, every = accelerator.prepare(
        args.model, whole_batches(args.data), all_batches(args.data)
    )
    for batch in whole:
        accelerator.backward(model(batch))
    for batch in every:  # expect: DST113
        accelerator.backward(model(batch))


main(parse())
