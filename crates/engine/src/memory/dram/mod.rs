//! DRAM channels: ranks, bank groups, banks, FR-FCFS.
