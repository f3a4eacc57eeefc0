from accelerate import Accelerator


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    total = 0.0
    for batch in loader:
        loss = model(**batch).loss
        mean = accelerator.gather(loss.repeat(args.batch_size)).mean()
        total += mean.item() / args.accumulation
        accelerator.backward(loss)
        loss = loss.detach() / args.accumulation
        print(loss)
