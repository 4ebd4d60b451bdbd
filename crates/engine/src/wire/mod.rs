//! What arrives: packets, their times, sizes and flows.
