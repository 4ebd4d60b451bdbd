//! What the memory system asks its host to do, and when.

use super::line::Line;

/// Something the host must schedule on behalf of the memory system.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// Call [`super::backend::Backend::wake`] for the channel.
    Channel(u16),
    /// Call [`super::system::Memory::arrive`] for the transaction.
    Arrival(u16),
    /// Call [`super::backend::Backend::remote_read`] for the transaction.
    RemoteRead(u16),
    /// Call [`super::backend::Backend::remote_write`] for the line, with or without a credit.
    RemoteWrite(Line, bool),
    /// A DMA write that had to wait has entered a write queue: the credit of its line returns.
    Written,
    /// Call [`super::backend::Backend::remote_data`] for the transaction.
    RemoteData(u16),
}
