from lib.core.loops import meet
