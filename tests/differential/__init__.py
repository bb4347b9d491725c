"""The same random programs run by MindSpore and by Hookscope; what differs, grouped. By hand: see `__main__.py`."""
