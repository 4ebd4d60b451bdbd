//! By how much the congestion window of a connection was cut, and by what.

use super::control::AnyControl;

/// Cuts of a window since counting began, in packets of [`super::fixed::ONE`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cuts {
    /// By the delay in the server.
    pub(super) host: u128,
    /// By other acknowledgements: the delay of the path, or marks.
    pub(super) path: u128,
    /// By packets that are considered lost.
    pub(super) losses: u128,
}

impl Cuts {
    /// An acknowledgement has come; the window was `before`.
    pub(super) fn acknowledged(&mut self, before: u64, control: &AnyControl) {
        let host = control.host_counts() == Some(true);
        let cut = if host { &mut self.host } else { &mut self.path };
        *cut += u128::from(before.saturating_sub(control.window()));
    }

    /// Packets are considered lost; the window was `before`.
    pub(super) fn lost(&mut self, before: u64, control: &AnyControl) {
        self.losses += u128::from(before.saturating_sub(control.window()));
    }
}
