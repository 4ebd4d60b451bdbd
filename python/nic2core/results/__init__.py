"""What the engine gives back, as typed data and on disk."""
