//! What lies between the NIC and the memory system.

use crate::config::machine::Machine;
use crate::nic::port::Port;
use crate::pcie::Link;
use crate::time::Ps;

#[derive(Clone, Debug)]
pub(super) enum Interconnect {
    Pcie(Link),
    /// The NIC is on the chip.
    OnChip(Port),
}

impl Interconnect {
    pub(super) fn new(machine: &Machine) -> Interconnect {
        match &machine.pcie {
            Some(pcie) => Interconnect::Pcie(Link::new(pcie)),
            None => Interconnect::OnChip(Port::new(machine.uncore_frequency(), &machine.noc)),
        }
    }

    pub(super) fn link(&self) -> Option<&Link> {
        match self {
            Interconnect::Pcie(link) => Some(link),
            Interconnect::OnChip(_) => None,
        }
    }

    /// Latency of a message that carries no data, such as a doorbell.
    pub(super) fn latency(&self) -> Ps {
        match self {
            Interconnect::Pcie(link) => link.latency(),
            Interconnect::OnChip(port) => port.latency(),
        }
    }

    /// A write of `bytes`, at most the maximum payload, leaves the NIC. Returns when it reaches the
    /// memory system.
    pub(super) fn write(&mut self, now: Ps, bytes: u64) -> Ps {
        match self {
            Interconnect::Pcie(link) => link.write(now, bytes),
            Interconnect::OnChip(port) => port.send(now, bytes),
        }
    }

    /// Read requests needed to read `bytes` contiguous bytes.
    pub(super) fn requests(&self, bytes: u64) -> u32 {
        self.link().map_or(1, |link| link.requests(bytes))
    }

    /// Read requests leave the NIC. Returns when the last one reaches the memory system.
    pub(super) fn request(&mut self, now: Ps, requests: u32) -> Ps {
        match self {
            Interconnect::Pcie(link) => link.request(now, requests),
            Interconnect::OnChip(port) => now + port.latency(),
        }
    }

    /// `bytes` contiguous bytes go from the I/O controller to the NIC. Returns when the last of
    /// them is there.
    pub(super) fn completion(&mut self, now: Ps, bytes: u64) -> Ps {
        match self {
            Interconnect::Pcie(link) => link.completion(now, bytes),
            // An on-chip NIC is where the I/O controller is.
            Interconnect::OnChip(_) => now,
        }
    }

    /// The part of a way over the link, from leaving to arriving, in which it waits or is carried: none
    /// with an infinitely wide link.
    pub(super) fn carrying(&self, left: Ps, arrives: Ps) -> Ps {
        self.link().map_or(Ps::ZERO, |link| arrives - left - link.latency())
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        match self {
            Interconnect::Pcie(link) => link.reset_counts(now),
            Interconnect::OnChip(port) => port.reset_counts(now),
        }
    }
}
