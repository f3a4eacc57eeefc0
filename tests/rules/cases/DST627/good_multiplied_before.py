from accelerate import Accelerator


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batches in loader:
        count = sum(batch["mask"].sum() for batch in batches)
        for batch in batches:
            loss = model(**batch).loss.sum() / count
            loss = loss * args.accumulation
            accelerator.backward(loss)


def kept_as_it_is(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        loss = model(**batch).loss / args.accumulation
        accelerator.backward(loss * args.accumulation)
