from accelerate import Accelerator


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    for batch in accelerator.skip_first_batches(loader, skipped):
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()
    for epoch in range(first + 1, args.epochs):
        for batch in loader:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
