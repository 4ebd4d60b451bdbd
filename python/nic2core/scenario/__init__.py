"""The scenario: its model, its keys and values, and the files that it refers to."""
