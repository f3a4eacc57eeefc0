from accelerate import Accelerator


def main(args, model, loader):
    accelerator = None
    if args.distributed:
        accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        loss = model(**batch).loss
        if args.distributed:
            accelerator.backward(loss)
        else:
            loss = loss / args.accumulation
            loss.backward()


def in_two_places(args, model, loader):
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    for batch in loader:
        loss = model(**batch).loss
        if not args.distributed:
            loss = loss / args.accumulation
        if args.distributed:
            accelerator.backward(loss)
        else:
            loss.backward()
