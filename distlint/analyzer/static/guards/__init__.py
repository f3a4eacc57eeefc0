"""Which processes reach a statement, judged by what stands around it.

For rules about files and other things that processes share, where a finding needs two answers:
nothing keeps the other ranks away, and there are other ranks. Both are asked in favour of the code:
a test that may be about the rank counts as one.
"""
