from .loops import meet
