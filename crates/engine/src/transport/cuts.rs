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
    /// An acknowledgement or the control's timer has come, which has changed the window; `limited_by_host` is
    /// [`Control::limited_by_host`](super::control::Control::limited_by_host) after it.
    pub(super) fn acknowledged(&mut self, before: u64, after: u64, limited_by_host: Option<bool>) {
        let cut = if limited_by_host == Some(true) { &mut self.host } else { &mut self.path };
        *cut += u128::from(before.saturating_sub(after));
    }

    /// Packets are considered lost, which has changed the window.
    pub(super) fn lost(&mut self, before: u64, after: u64) {
        self.losses += u128::from(before.saturating_sub(after));
    }
}
