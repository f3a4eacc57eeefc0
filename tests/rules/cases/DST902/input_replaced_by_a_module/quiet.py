import builtins


def setup(say):
    builtins.input = say
    print(say)
