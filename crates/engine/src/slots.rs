//! Values in numbered slots. A handle is valid until its value is removed, and may be reused afterwards.

/// The slots; free ones are reused before new ones are added.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slots<T> {
    /// Puts a value into a slot and returns its handle.
    #[inline]
    pub(crate) fn add(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = value;
                slot
            }
            None => {
                self.slots.push(value);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Takes a value out of its slot.
    #[inline]
    pub(crate) fn remove(&mut self, handle: u32) -> T {
        self.free.push(handle);
        self.slots[handle as usize]
    }

    #[inline]
    pub(crate) fn get(&self, handle: u32) -> &T {
        &self.slots[handle as usize]
    }

    #[inline]
    pub(crate) fn at(&mut self, handle: u32) -> &mut T {
        &mut self.slots[handle as usize]
    }

    /// The number of values.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The values, by handle.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mut free = self.free.clone();
        free.sort_unstable();
        let taken = move |slot: &usize| free.binary_search(&(*slot as u32)).is_err();
        (0..self.slots.len()).filter(taken).map(|slot| &self.slots[slot])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_given_out_again_only_after_its_value_is_removed() {
        let mut slots = Slots::default();
        let handles = [slots.add('a'), slots.add('b'), slots.add('c')];
        assert_eq!(handles, [0, 1, 2]);
        assert_eq!((slots.remove(1), slots.len()), ('b', 2));
        assert!(slots.iter().eq(&['a', 'c']));
        assert_eq!(slots.add('d'), 1);
        *slots.at(2) = 'e';
        assert_eq!((*slots.get(1), *slots.get(2)), ('d', 'e'));
        assert!(slots.iter().eq(&['a', 'd', 'e']));
        assert_eq!(slots.add('f'), 3);
    }
}
