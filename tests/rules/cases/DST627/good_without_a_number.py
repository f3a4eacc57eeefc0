from accelerate import Accelerator


def main(args, model, loader, optimizer):
    accelerator = Accelerator(mixed_precision=args.precision)
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        loss = loss / args.gradient_accumulation_steps
        accelerator.backward(loss)
        if step % args.gradient_accumulation_steps == 0:
            optimizer.step()


def by_one(args, model, batch):
    accelerator = Accelerator(gradient_accumulation_steps=1)
    accelerator.backward(model(**batch).loss / args.gradient_accumulation_steps)


def of_one(model, batch):
    accelerator = Accelerator()
    accelerator.backward(model(**batch).loss / accelerator.gradient_accumulation_steps)
