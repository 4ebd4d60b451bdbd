//! A long array in pages that clones share until one of them writes.
//!
//! The stores of a tenant start out equal, and so does every snapshot of a host: each costs only
//! the pages in which it has come to differ.

use std::sync::Arc;

/// Elements of a page.
const PAGE: usize = 64;

/// The array.
#[derive(Clone, Debug)]
pub(super) struct Pages<T> {
    pages: Vec<Arc<[T; PAGE]>>,
    len: usize,
}

impl<T: Copy + Default> Pages<T> {
    /// `len` elements of the default value.
    pub(super) fn new(len: usize) -> Pages<T> {
        let empty = Arc::new([T::default(); PAGE]);
        let pages = std::iter::repeat_with(|| Arc::clone(&empty)).take(len.div_ceil(PAGE));
        Pages { pages: pages.collect(), len }
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The `i`-th element.
    #[inline]
    pub(super) fn get(&self, i: u32) -> &T {
        &self.pages[i as usize / PAGE][i as usize % PAGE]
    }

    /// The `i`-th element for writing: its page is no longer shared.
    #[inline]
    pub(super) fn get_mut(&mut self, i: u32) -> &mut T {
        &mut Arc::make_mut(&mut self.pages[i as usize / PAGE])[i as usize % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_sees_what_was_written_before_and_not_after() {
        let mut a: Pages<u32> = Pages::new(200);
        *a.get_mut(70) = 1;
        let mut b = a.clone();
        *a.get_mut(71) = 2;
        *b.get_mut(199) = 3;
        let of = |p: &Pages<u32>| [70, 71, 199].map(|i| *p.get(i));
        assert_eq!((of(&a), of(&b)), ([1, 2, 0], [1, 0, 3]));
        assert_eq!(a.len(), 200);
    }

    #[test]
    fn only_pages_that_differ_are_copied() {
        let a: Pages<u32> = Pages::new(10 * PAGE);
        let mut b = a.clone();
        *b.get_mut(PAGE as u32) = 1;
        let shared = a.pages.iter().zip(&b.pages).filter(|(a, b)| Arc::ptr_eq(a, b));
        assert_eq!(shared.count(), 9);
    }
}
