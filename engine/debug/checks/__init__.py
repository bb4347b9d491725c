"""Who looks for the conditions, when, and what was found: values, parameters over steps, the network, operators."""
