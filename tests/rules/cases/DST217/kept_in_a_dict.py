from accelerate import Accelerator


def main(args, model, optimizer, train, val):
    accelerator = Accelerator()
    model, optimizer, train, val = accelerator.prepare(model, optimizer, train, val)
    loaders = {"train": train, "val": val}
    loaders["train"] = accelerator.skip_first_batches(train, args.skipped)  # expect: DST217
    batches = loaders["train"]
    for epoch in range(args.first_epoch, args.epochs):
        for batch in batches:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
