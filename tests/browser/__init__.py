"""With this file the folder is a package to pytest: Chromium stays open for its files, and is closed behind them."""
