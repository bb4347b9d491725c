"""HTML that needs neither a script nor a kernel: saved outputs, displays of values, tables, exported pages."""
