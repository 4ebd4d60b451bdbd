"""What the engine returns, as typed data and on disk."""
