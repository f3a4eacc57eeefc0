from accelerate import Accelerator


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        tokens = accelerator.gather(batch["mask"].sum()).sum()
        loss = model(**batch).loss.sum() / tokens
        accelerator.backward(loss)


def of_ranks(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=2)
    for batch in loader:
        one, other = model(**batch)
        accelerator.backward((one + other) / 2)


def by_processes(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        accelerator.backward(model(**batch).loss / accelerator.num_processes)
