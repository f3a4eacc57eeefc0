from . import loops

meet = loops.meet
