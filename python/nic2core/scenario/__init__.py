"""The scenario: its model, its keys and values, and what it refers to."""
