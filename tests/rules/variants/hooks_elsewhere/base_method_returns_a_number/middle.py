from base import Runner


class Middle(Runner):
    name = "x"
