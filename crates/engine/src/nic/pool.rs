//! The pool of receive buffers of one core, and the order in which buffers are reused.

use std::collections::VecDeque;

use crate::nic::config::Pool as Order;

/// Number of a buffer within its pool.
pub(crate) type Buffer = u32;

/// Free buffers.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    order: Order,
    free: VecDeque<Buffer>,
}

impl Pool {
    /// A pool in which all of `buffers` are free, the first to be taken first.
    pub(crate) fn new(order: Order, buffers: impl DoubleEndedIterator<Item = Buffer>) -> Pool {
        let free = match order {
            Order::Ring => buffers.collect(),
            Order::Stack => buffers.rev().collect(),
        };
        Pool { order, free }
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<Buffer> {
        match self.order {
            Order::Ring => self.free.pop_front(),
            Order::Stack => self.free.pop_back(),
        }
    }

    #[inline]
    pub(crate) fn put(&mut self, buffer: Buffer) {
        self.free.push_back(buffer);
    }

    /// The free buffers.
    pub(crate) fn free(&self) -> impl Iterator<Item = Buffer> {
        self.free.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reuse(order: Order) -> Vec<Buffer> {
        let mut pool = Pool::new(order, [2, 3, 0, 1].into_iter());
        (0..6)
            .map(|_| {
                let b = pool.take().unwrap();
                pool.put(b);
                b
            })
            .collect()
    }

    #[test]
    fn a_ring_uses_every_buffer_in_turn_and_a_stack_the_last() {
        assert_eq!(reuse(Order::Ring), [2, 3, 0, 1, 2, 3]);
        assert_eq!(reuse(Order::Stack), [2, 2, 2, 2, 2, 2]);
    }
}
