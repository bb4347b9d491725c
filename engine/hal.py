"""``mindspore.hal``: the older name of ``mindspore.runtime``."""
