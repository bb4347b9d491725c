"""The machine: tensors, recordings, gradients, the table of operators, taps and hooks. It knows no operator by name."""
