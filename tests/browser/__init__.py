"""The folder is a package to pytest, so that Chromium stays open for its files, and is closed after them."""
