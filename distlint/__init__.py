"""Find, explain and fix the bugs that make distributed training hang."""

try:
    from distlint._version import __version__ as __version__
except ImportError:  # a checkout that was never installed
    __version__ = "0.0.0+unknown"
