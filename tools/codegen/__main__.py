"""`python -m tools.codegen`: writes the generated files that are stale."""

from . import generated, stale

files = generated()
for path in stale():
    path.parent.mkdir(exist_ok=True)
    path.write_text(files[path])
    print(f"wrote {path}")
