from accelerate import Accelerator


def train_epoch(accelerator, model, optimizer, batches):
    bar = iter(batches)
    for batch in bar:
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    if args.resume:
        loader = accelerator.skip_first_batches(loader, args.skipped)  # expect: DST217
    for epoch in range(args.first_epoch, args.epochs):
        train_epoch(accelerator, model, optimizer, loader)
