"""The command `nic2core`: its subcommands, their options, and what the terminal shows."""
