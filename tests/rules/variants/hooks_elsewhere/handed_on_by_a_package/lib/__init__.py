from lib.runner import Runner
