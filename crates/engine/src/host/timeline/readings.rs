//! Counters recorded alongside the packets: how full the resources are that packets wait for.

use crate::host::Host;
use crate::stats::timeline::Counter;
use crate::time::Ps;

/// Readings that a recording holds; later ones are not taken, and their number is reported.
const MAX_READINGS: usize = 100_000;

/// A quantity of the host that is read.
#[derive(Clone, Copy, Debug)]
enum What {
    Sram,
    WriteCredits,
    PostedCredits,
    ReadCredits,
    Iommu,
    HeldBack,
    SwitchQueue,
    Window,
    Waiting { queue: u16 },
    DescriptorsUsed { queue: u16 },
}

impl What {
    /// Name and unit.
    fn name(self) -> (&'static str, &'static str) {
        match self {
            What::Sram => ("NIC SRAM", "bytes"),
            What::WriteCredits => ("write credits in use", "lines"),
            What::PostedCredits => ("PCIe posted credits in use", "TLPs"),
            What::ReadCredits => ("read credits in use", "lines"),
            What::Iommu => ("waiting for the IOMMU", "transactions"),
            What::HeldBack => ("held back by the LLC", "requests"),
            What::SwitchQueue => ("queue of the switch", "bytes"),
            What::Window => ("congestion window, mean", "packets"),
            What::Waiting { .. } => ("waiting for the core", "packets"),
            What::DescriptorsUsed { .. } => ("receive descriptors in use", "descriptors"),
        }
    }

    fn queue(self) -> Option<u16> {
        match self {
            What::Waiting { queue } | What::DescriptorsUsed { queue } => Some(queue),
            _ => None,
        }
    }
}

/// The readings so far.
#[derive(Clone, Debug)]
pub(super) struct Readings {
    times: Vec<Ps>,
    columns: Vec<(What, Vec<f64>)>,
}

impl Readings {
    pub(super) fn has_room(&self) -> bool {
        self.times.len() < MAX_READINGS
    }

    /// How many readings were due until the end but found no room.
    pub(super) fn left_out(&self, end_ps: u64, interval_ps: u64) -> u64 {
        let last = self.times.last().filter(|_| !self.has_room());
        last.map_or(0, |last| end_ps.saturating_sub(last.0) / interval_ps)
    }

    /// When the counters were read, and their values.
    pub(super) fn results(&self) -> (Vec<u64>, Vec<Counter>) {
        let counters = self.columns.iter().map(|(what, values)| {
            let (name, unit) = what.name();
            let (name, unit, queue) = (name.into(), unit.into(), what.queue());
            Counter { name, unit, queue, values: values.clone() }
        });
        (self.times.iter().map(|at| at.0).collect(), counters.collect())
    }
}

impl Host {
    /// The counters of this host, not read yet.
    pub(super) fn no_readings(&self) -> Readings {
        let mut all = vec![What::Sram, What::WriteCredits, What::ReadCredits, What::HeldBack];
        if self.interconnect.link().is_some() {
            all.push(What::PostedCredits);
        }
        if self.iommu.is_some() {
            all.push(What::Iommu);
        }
        if self.closed_loop.is_some() {
            all.extend([What::SwitchQueue, What::Window]);
        }
        for queue in 0..self.queues.len() as u16 {
            all.extend([What::Waiting { queue }, What::DescriptorsUsed { queue }]);
        }
        let columns = all.into_iter().map(|what| (what, Vec::new())).collect();
        Readings { times: Vec::new(), columns }
    }

    pub(super) fn read_into(&self, readings: &mut Readings, now: Ps) {
        readings.times.push(now);
        for (what, values) in &mut readings.columns {
            values.push(self.read_counter(*what, now));
        }
    }

    fn read_counter(&self, what: What, now: Ps) -> f64 {
        let network = || &self.closed_loop.as_ref().expect("the counter is of one").network;
        match what {
            What::Sram => self.rx.sram.in_use() as f64,
            What::WriteCredits => self.writes.lines.in_use() as f64,
            What::PostedCredits => self.writes.tlps.in_use() as f64,
            What::ReadCredits => self.reads.lines.in_use() as f64,
            What::Iommu => self.iommu.as_ref().map_or(0, |i| i.waiting().count()) as f64,
            What::HeldBack => self.held_back.len() as f64,
            What::SwitchQueue => network().switch_bytes(now) as f64,
            What::Window => network().window(),
            What::Waiting { queue } => self.queues[queue as usize].rx.waiting().into(),
            What::DescriptorsUsed { queue } => {
                self.queues[queue as usize].rx.counts.used.inside() as f64
            }
        }
    }
}
