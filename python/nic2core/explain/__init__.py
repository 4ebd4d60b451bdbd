"""What limits a run, and how much a change to each domain would help."""
