from accelerate import Accelerator


def loss_of(model, batch, accumulation):
    loss = model(**batch).loss
    return loss / accumulation  # expect: DST627


def main(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        with accelerator.accumulate(model):
            loss = loss_of(model, batch, args.accumulation)
            accelerator.backward(loss)
