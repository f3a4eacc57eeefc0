from accelerate import Accelerator


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    epoch = first
    if args.resume:
        loader = accelerator.skip_first_batches(loader, skipped)  # expect: DST217
    while epoch < args.epochs:
        for batch in enumerate(loader, start=1):
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
        epoch += 1
