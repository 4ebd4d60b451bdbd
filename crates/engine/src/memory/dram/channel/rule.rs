//! The rule of the scheduler taken literally, for the tests: it looks at every request.

use super::super::device::CLOSED;
use super::super::requests::NONE;
use super::Channel;

impl<const W: usize> Channel<W> {
    /// The request whose next command is to be issued at `now`.
    pub(super) fn first_by_rule(&self, now: u64) -> u16 {
        // Fewer than 2^32 requests arrive in a test, so ages can be compared directly.
        let mut first = (true, u32::MAX, NONE);
        let mut consider = |slot: u16, opened: bool, ready: u64| {
            if ready <= now {
                first = first.min((!opened, self.requests.age(slot), slot));
            }
        };
        let access = |slot: u16| {
            let request = self.requests.get(slot);
            self.device.column_ready(request.bank, usize::from(request.write))
        };
        for bank in 0..self.device.banks() {
            let opened = self.requests.opened(bank);
            if opened != NONE {
                consider(opened, true, access(opened));
            }
            if self.calendar.is_due() {
                continue;
            }
            let row = self.device.bank(bank).row;
            let mut older_hit = false;
            for slot in self.requests.waiting(bank, self.serving) {
                let request = self.requests.get(slot);
                if request.row == row {
                    older_hit = true;
                    consider(slot, false, access(slot));
                } else if row == CLOSED || (opened == NONE && !older_hit) {
                    consider(slot, false, self.device.row_ready(bank));
                }
            }
        }
        first.2
    }
}
