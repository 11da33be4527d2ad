//! An array that grows block by block, without copying and with little unused space.
//!
//! A vector that doubles copies all its values: with a million pages that takes several
//! milliseconds. At twenty million pages it may also waste as much memory as it uses. If the
//! indices are dense, as page numbers are, this array wastes at most one block.

/// Values in one block.
const BLOCK: usize = 1 << 12;

/// A value for every page, indexed by page number.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    blocks: Vec<Box<[T]>>,
    blank: T,
}

impl<T: Copy> Rows<T> {
    /// Returns an empty array. Values that were never set read as `blank`.
    pub fn new(blank: T) -> Self {
        Self {
            blocks: Vec::new(),
            blank,
        }
    }

    /// Returns the value at an index.
    pub fn get(&self, index: usize) -> T {
        let block = self.blocks.get(index / BLOCK);
        block.map_or(self.blank, |block| block[index % BLOCK])
    }

    /// Returns the value at an index for modification; `None`: no value of its block was set.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let block = self.blocks.get_mut(index / BLOCK)?;
        Some(&mut block[index % BLOCK])
    }

    /// Sets the value at an index.
    pub fn set(&mut self, index: usize, value: T) {
        while self.blocks.len() <= index / BLOCK {
            self.blocks.push(vec![self.blank; BLOCK].into_boxed_slice());
        }
        self.blocks[index / BLOCK][index % BLOCK] = value;
    }

    /// Returns all values for modification, including blank ones.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.blocks.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_never_set_are_blank() {
        let mut rows = Rows::new(7u8);
        rows.set(3 * BLOCK, 1);
        let values = [0, 3 * BLOCK - 1, 3 * BLOCK, 3 * BLOCK + 1, 9 * BLOCK];
        assert_eq!(values.map(|index| rows.get(index)), [7, 7, 1, 7, 7]);
        assert_eq!(rows.iter_mut().filter(|value| **value == 1).count(), 1);
    }
}
