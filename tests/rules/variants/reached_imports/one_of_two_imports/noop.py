def meet():
    pass
