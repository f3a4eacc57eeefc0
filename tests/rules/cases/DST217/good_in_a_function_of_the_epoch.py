from accelerate import Accelerator


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    for epoch in range(first, args.epochs):
        train(accelerator, model, optimizer, loader, skipped if epoch == first else 0)


def train(accelerator, model, optimizer, batches, skipped):
    if skipped:
        batches = accelerator.skip_first_batches(batches, skipped)
    for batch in batches:
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()
