"""`python -m tools.tables [NAME...]`: runs the tables whose names begin so, and prints them."""

import sys

from .cards import TABLES

names = sys.argv[1:] or list(TABLES)
chosen = [name for name in TABLES if any(name.startswith(wanted) for wanted in names)]
for wanted in names:
    if not any(name.startswith(wanted) for name in chosen):
        sys.exit(f"no table begins with {wanted}; there are {', '.join(TABLES)}")
for name in chosen:
    print(f"{name}\n{TABLES[name].run(2)}\n", flush=True)
