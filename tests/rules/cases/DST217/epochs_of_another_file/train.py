from accelerate import Accelerator

from engine import fit


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    if args.resume:
        loader = accelerator.skip_first_batches(loader, args.skipped)  # expect: DST217
    fit(args, accelerator, model, optimizer, loader)
