"""A page in Chromium stays open for this folder: pytest knows a folder that ends from one with this file."""
