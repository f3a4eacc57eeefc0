from accelerate import Accelerator


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        loss = model(**batch).loss
        loss = loss / args.accumulation
        accelerator.backward(loss)
        print(loss.item() * args.accumulation)
