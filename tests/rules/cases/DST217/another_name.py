from accelerate import Accelerator


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    rest = accelerator.skip_first_batches(loader, num_batches=skipped)  # expect: DST217
    for epoch in range(first, args.epochs):
        for batch in enumerate(rest):
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
