from root import Root


class Base(Root):
    pass
