from accelerate import Accelerator


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    loader = accelerator.skip_first_batches(loader, skipped)
    for batch in loader:
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()
    nothing = accelerator.skip_first_batches(loader, 0)
    for epoch in range(first, args.epochs):
        for batch in nothing:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
