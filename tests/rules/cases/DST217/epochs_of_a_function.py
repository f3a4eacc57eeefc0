from accelerate import Accelerator


def train(args, accelerator, model, optimizer, batches):
    for epoch in range(args.first_epoch, args.epochs):
        for batch in batches:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    if args.resume:
        loader = accelerator.skip_first_batches(loader, args.skipped)  # expect: DST217
    train(args, accelerator, model, optimizer, loader)
