import lib
import deepspeed


def main(args, net, data):
    model, opt, loader, _ = deepspeed.initialize(args=args, model=net, training_data=data)
    for batch in loader:
        loss = model(batch)
        model.backward(loss)
        model.step()
    if args.local_rank <= 0:  # expect: DST407
        lib.save(model, "out")
