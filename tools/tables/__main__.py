"""`python -m tools.tables [NAME...]`: runs tables of the model cards anew and prints them."""

import sys

from .cards import TABLES

names = sys.argv[1:] or list(TABLES)
chosen = [name for name in TABLES if any(name.startswith(wanted) for wanted in names)]
if not chosen:
    sys.exit(f"no table begins with {' or '.join(names)}; there are {', '.join(TABLES)}")
for name in chosen:
    print(f"{name}\n{TABLES[name].run(2)}\n", flush=True)
