"""Random calls that look for raw tracebacks, results that are not finite, and calls that never return."""
