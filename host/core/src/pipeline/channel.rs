//! A channel bounded in bytes: stages overlap, memory doesn't grow with the size of a row or a transaction.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Bytes are counted in units of this size, so that a limit of many GiB fits a semaphore.
const UNIT: usize = 1024;

/// The sending half.
pub struct Sender<T> {
    room: Arc<Semaphore>,
    capacity: u32,
    items: mpsc::UnboundedSender<(T, OwnedSemaphorePermit)>,
}

/// The receiving half.
pub struct Receiver<T> {
    items: mpsc::UnboundedReceiver<(T, OwnedSemaphorePermit)>,
}

/// An item whose bytes count against the channel until it is dropped.
pub struct Held<T> {
    /// The item.
    pub item: T,
    _room: OwnedSemaphorePermit,
}

/// The other half is gone.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed;

/// A channel that holds items of at most `bytes` in all; one larger item passes when nothing else is held.
pub fn bounded<T>(bytes: usize) -> (Sender<T>, Receiver<T>) {
    let capacity = u32::try_from((bytes / UNIT).max(1)).unwrap_or(u32::MAX / 2);
    let (sender, receiver) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(capacity as usize));
    (Sender { room, capacity, items: sender }, Receiver { items: receiver })
}

impl<T> Sender<T> {
    /// Waits for room and sends. Cancel-safe up to the moment the item is handed over; a dropped call drops the item.
    pub async fn send(&self, item: T, bytes: usize) -> Result<(), Closed> {
        let room = self.reserve(bytes).await?;
        self.items.send((item, room)).map_err(|_| Closed)
    }

    /// Waits for room for `bytes`, or for the receiver to go.
    async fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Closed> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).clamp(1, self.capacity);
        tokio::select! {
            biased;
            () = self.items.closed() => Err(Closed),
            room = self.room.clone().acquire_many_owned(units) => Ok(room.expect("the semaphore is never closed")),
        }
    }
}

impl<T> Receiver<T> {
    /// The next item, or `None` when the sender is gone and nothing is left.
    pub async fn recv(&mut self) -> Option<Held<T>> {
        self.items.recv().await.map(|(item, room)| Held { item, _room: room })
    }

    /// The next item if one is there already.
    pub fn try_recv(&mut self) -> Option<Held<T>> {
        self.items.try_recv().ok().map(|(item, room)| Held { item, _room: room })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bytes_bound_the_channel_until_items_are_dropped() {
        let (sender, mut receiver) = bounded::<u8>(4 * UNIT);
        sender.send(1, 3 * UNIT).await.expect("there is room");
        let mut blocked = Box::pin(sender.send(2, 2 * UNIT));
        tokio::select! {
            biased;
            _ = &mut blocked => panic!("the second item must wait"),
            () = tokio::task::yield_now() => {}
        }
        let first = receiver.recv().await.expect("the first item");
        tokio::select! {
            biased;
            _ = &mut blocked => panic!("an item in hand still counts"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        blocked.await.expect("room came back");
    }

    #[tokio::test]
    async fn an_item_larger_than_the_channel_passes_alone() {
        let (sender, mut receiver) = bounded::<u8>(UNIT);
        sender.send(1, 50 * UNIT).await.expect("it passes");
        assert_eq!(receiver.recv().await.map(|h| h.item), Some(1));
        sender.send(2, 50 * UNIT).await.expect("the next one too");
        drop(receiver);
        assert_eq!(sender.send(3, 1).await, Err(Closed));
    }
}
