//! By how much the congestion window of a connection was cut, and by what.

/// Cuts of a window since counting began, in packets of [`super::fixed::ONE`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cuts {
    /// By the delay in the server.
    pub(super) host: u128,
    /// By other acknowledgements: the delay of the path or of the whole round trip, or marks.
    pub(super) path: u128,
    /// By packets that are considered lost.
    pub(super) losses: u128,
}

impl Cuts {
    /// An acknowledgement or the control's timer has come, which has changed the window; `host_counts` is
    /// [`Control::host_counts`](super::control::Control::host_counts) after it.
    pub(super) fn acknowledged(&mut self, before: u64, after: u64, host_counts: Option<bool>) {
        let cut = if host_counts == Some(true) { &mut self.host } else { &mut self.path };
        *cut += u128::from(before.saturating_sub(after));
    }

    /// Packets are considered lost, which has changed the window.
    pub(super) fn lost(&mut self, before: u64, after: u64) {
        self.losses += u128::from(before.saturating_sub(after));
    }
}
