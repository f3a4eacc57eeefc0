from accelerate import Accelerator


def make(args):
    return Accelerator(gradient_accumulation_steps=args.accumulate)


def main(args, model, loader):
    accelerator = make(args)
    steps = accelerator.gradient_accumulation_steps
    for batch in loader:
        accelerator.backward(model(**batch).loss / steps)  # expect: DST627


def epoch(accelerator, model, loader):
    for batch in loader:
        loss = model(**batch).loss
        loss = loss / accelerator.gradient_accumulation_steps  # expect: DST627
        accelerator.backward(loss)
