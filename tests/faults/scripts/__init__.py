"""Programs that build and train everything themselves, with several networks, losses or optimizers; written by authors
who had read neither the conditions nor their tests."""
