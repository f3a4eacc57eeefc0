from accelerate import Accelerator


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    rest = accelerator.skip_first_batches(loader, skipped)
    for epoch in range(first, args.epochs):
        if epoch == first:
            train(accelerator, model, optimizer, rest)
        else:
            train(accelerator, model, optimizer, loader)


def train(accelerator, model, optimizer, batches):
    for batch in batches:
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()
