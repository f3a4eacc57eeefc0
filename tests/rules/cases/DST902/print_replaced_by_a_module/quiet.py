import builtins


def setup(say):
    builtins.print = say
