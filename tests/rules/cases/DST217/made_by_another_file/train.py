from accelerate import Accelerator


from resuming import resumed


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    loader = resumed(accelerator, loader, args.skipped)
    for epoch in range(args.first_epoch, args.epochs):
        for batch in loader:  # expect: DST217
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
