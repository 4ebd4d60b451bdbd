"""The command `nic2core`: its verbs, their options, and what the terminal shows."""
