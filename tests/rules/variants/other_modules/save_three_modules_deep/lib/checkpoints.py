from lib.files import save as write


def keep(model, epoch):
    write(model, f"epoch{epoch}.pt")
