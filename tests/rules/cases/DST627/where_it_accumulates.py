from accelerate import Accelerator


def main(args, model, loader):
    accelerator = Accelerator(
        gradient_accumulation_steps=args.gradient_accumulation_steps,
        log_with="tensorboard",
    )
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        if args.gradient_accumulation_steps > 1:
            loss = loss / args.gradient_accumulation_steps  # expect: DST627
        accelerator.backward(loss)
