RUNTIME = "distlint.runtime"
"""The library that fixes import from, unless the project names one of its own."""
