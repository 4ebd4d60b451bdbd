//! The rule of the scheduler taken literally, for the tests: looks at every request.

use super::super::device::{CLOSED, Step};
use super::super::requests::NONE;
use super::{Channel, READ, WRITE};

impl<const W: usize> Channel<W> {
    /// The request that is to be brought forward at `now`.
    pub(super) fn first_by_rule(&self, now: u64) -> u16 {
        // Fewer than 2^32 requests arrive in a test, so ages can be compared as they are.
        let mut first = (true, u32::MAX, NONE);
        let mut consider = |slot: u16, opened: bool, step: Step| {
            let request = self.requests.get(slot);
            let ready = match step {
                Step::Precharge | Step::Activate => self.device.row_ready(request.bank),
                Step::Read => self.device.column_ready(request.bank, READ),
                Step::Write => self.device.column_ready(request.bank, WRITE),
            };
            if ready <= now {
                first = first.min((!opened, request.age, slot));
            }
        };
        for bank in 0..self.device.banks() {
            let opened = self.requests.opened(bank);
            if opened != NONE {
                consider(opened, true, Step::access(self.requests.get(opened).write));
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
                    consider(slot, false, Step::access(request.write));
                } else if row == CLOSED {
                    consider(slot, false, Step::Activate);
                } else if opened == NONE && !older_hit {
                    consider(slot, false, Step::Precharge);
                }
            }
        }
        first.2
    }
}
