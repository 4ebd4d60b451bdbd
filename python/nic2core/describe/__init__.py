"""What is said of runs: verdicts, doubts and differences, in words and rows."""
