from lightning.fabric import Fabric


def main(args, model, loader):
    fabric = Fabric(devices=2)
    for step, batch in enumerate(loader):
        with fabric.no_backward_sync(model, enabled=step % args.accumulation != 0):
            fabric.backward(model(batch).mean() / args.accumulation)
