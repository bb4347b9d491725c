"""Training programs with planted faults, and healthy ones, for judging what a debugger finds."""
