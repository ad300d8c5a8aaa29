//! The memory of results: a slot for every value, filled by several threads.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::domain::Outside;
use crate::envelope::{BATCH, Nonces};
use crate::error::Error;
use crate::memory::Memory;
use crate::threads::Threads;
use crate::values::Values;

/// The maximum number of rows in a task.
const TASK_ROWS: usize = 16 * BATCH;
/// The maximum output of a task in bytes, unless a single row has more.
const TASK_BYTES: usize = 1 << 20;

/// Some rows of a chunk, and the memory for their results.
struct Task<'a> {
    chunk: usize,
    rows: Range<usize>,
    out: &'a mut [u8],
}

/// The offsets and values of an output chunk.
pub(crate) struct Slots<O> {
    offsets: Vec<O>,
    values: Memory,
}

impl<O: OffsetSizeTrait> Slots<O> {
    /// Creates zeroed slots of these lengths.
    ///
    /// # Errors
    /// [`Error::Memory`] if the values cannot be allocated, or their sum does not fit the offset type.
    fn new(lengths: impl Iterator<Item = usize>, rows: usize) -> Result<Self, Error> {
        let mut offsets = Vec::with_capacity(rows + 1);
        let mut end = 0_usize;
        offsets.push(O::usize_as(0));
        for length in lengths {
            end = end.checked_add(length).ok_or_else(too_large::<O>)?;
            offsets.push(O::from_usize(end).ok_or_else(too_large::<O>)?);
        }
        Ok(Self { offsets, values: Memory::zeroed(end)? })
    }

    /// Returns the offsets, and the tasks that fill the slots.
    fn tasks(&mut self, chunk: usize) -> (&[O], Vec<Task<'_>>) {
        let (offsets, mut out) = (&self.offsets[..], self.values.bytes());
        let mut tasks = Vec::new();
        let (mut start, rows) = (0, offsets.len() - 1);
        while start < rows {
            let begin = offsets[start].as_usize();
            let ends = &offsets[start + 1..=(start + TASK_ROWS).min(rows)];
            let full = ends.partition_point(|end| end.as_usize() - begin <= TASK_BYTES);
            let end = start + full.max(1);
            let (own, rest) = out.split_at_mut(offsets[end].as_usize() - begin);
            out = rest;
            tasks.push(Task { chunk, rows: start..end, out: own });
            start = end;
        }
        (offsets, tasks)
    }

    pub(crate) fn binary(self, nulls: Option<NullBuffer>) -> ArrayRef {
        let (offsets, values) = self.buffers();
        Arc::new(GenericBinaryArray::<O>::new(offsets, values, nulls))
    }

    /// Returns the values as text.
    ///
    /// # Errors
    /// The first row that is not UTF-8.
    pub(crate) fn text(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Outside> {
        let (offsets, values) = self.buffers();
        match GenericStringArray::<O>::try_new(offsets.clone(), values.clone(), nulls) {
            Ok(array) => Ok(Arc::new(array)),
            Err(_) => Err(not_text(&offsets, &values, 1).expect("a row is not UTF-8")),
        }
    }

    /// Zeroes the values that are not UTF-8, and returns their rows.
    pub(crate) fn zero_what_is_not_text(&mut self) -> Vec<usize> {
        let values = self.values.bytes();
        let Some(Outside { rows, .. }) = not_text(&self.offsets, values, usize::MAX) else {
            return Vec::new();
        };
        for row in &rows {
            values[self.offsets[*row].as_usize()..self.offsets[row + 1].as_usize()].fill(0);
        }
        rows
    }

    pub(crate) fn buffers(self) -> (OffsetBuffer<O>, Buffer) {
        (OffsetBuffer::new(ScalarBuffer::from(self.offsets)), self.values.into())
    }
}

/// Returns the first `most` rows that are not UTF-8.
fn not_text<O: OffsetSizeTrait>(offsets: &[O], values: &[u8], most: usize) -> Option<Outside> {
    let row = |row: usize| &values[offsets[row].as_usize()..offsets[row + 1].as_usize()];
    let whole = std::str::from_utf8(values);
    if whole.is_ok_and(|text| offsets.iter().all(|offset| text.is_char_boundary(offset.as_usize()))) {
        return None;
    }
    Outside::of((0..offsets.len() - 1).filter(|at| std::str::from_utf8(row(*at)).is_err()), most, "UTF-8")
}

fn too_large<O: OffsetSizeTrait>() -> Error {
    let bits = 8 * size_of::<O>();
    Error::Memory(format!("the results of a chunk do not fit offsets of {bits} bits; use shorter chunks"))
}

/// Returns whether the results need 64-bit offsets. `length` is the length of a result, at most `added` bytes more
/// than its value.
pub(crate) fn large(chunks: &[Values], added: usize, length: impl Fn(Option<&[u8]>) -> usize) -> bool {
    let max = i32::MAX as usize;
    chunks.iter().any(|values| {
        let exact = || (0..values.len()).map(|row| length(values.get(row))).sum::<usize>();
        values.max_bytes() + values.len() * added > max && exact() > max
    })
}

/// Creates a slot for every row, and fills them by calling `batch` with a chunk, some of its rows, the offsets of all
/// slots of the chunk, the slots of those rows, and the task's nonces.
pub(crate) fn fill<O: OffsetSizeTrait>(
    threads: Threads<'_>,
    chunks: &[Values],
    length: impl Fn(Option<&[u8]>) -> usize,
    batch: impl Fn(usize, Range<usize>, &[O], &mut [u8], &mut Nonces) -> Result<(), Error> + Sync,
) -> Result<Vec<Slots<O>>, Error> {
    let slots = chunks.iter().map(|values| {
        let lengths = (0..values.len()).map(|row| length(values.get(row)));
        Slots::new(lengths, values.len())
    });
    let mut slots = slots.collect::<Result<Vec<Slots<O>>, _>>()?;
    let (offsets, tasks): (Vec<_>, Vec<_>) =
        slots.iter_mut().enumerate().map(|(chunk, slots)| slots.tasks(chunk)).unzip();
    let tasks: Vec<Task<'_>> = tasks.into_iter().flatten().collect();
    threads.run(tasks, |Task { chunk, rows, mut out }| {
        let offsets = offsets[chunk];
        let mut nonces = Nonces::default();
        let mut start = rows.start;
        while start < rows.end {
            let end = (start + BATCH).min(rows.end);
            let (own, rest) = out.split_at_mut(offsets[end].as_usize() - offsets[start].as_usize());
            out = rest;
            batch(chunk, start..end, offsets, own, &mut nonces)?;
            start = end;
        }
        Ok::<(), Error>(())
    })?;
    Ok(slots)
}

/// The size in bytes of a row's slot.
#[inline]
pub(crate) fn slot<O: OffsetSizeTrait>(offsets: &[O], row: usize) -> usize {
    offsets[row + 1].as_usize() - offsets[row].as_usize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_end_at_the_largest_offset_and_no_later() {
        const MAX: usize = i32::MAX as usize;
        // Nothing touches the memory.
        let ends = |lengths: [usize; 2]| Slots::<i32>::new(lengths.into_iter(), 2).map(|slots| slots.offsets);
        assert_eq!(ends([MAX - 1, 1]).unwrap(), [0, i32::MAX - 1, i32::MAX]);
        for lengths in [[MAX, 1], [1 << 32, 0], [(1 << 32) - MAX, MAX], [usize::MAX, 1]] {
            assert!(matches!(ends(lengths), Err(Error::Memory(_))), "{lengths:?}");
        }
        let wide = Slots::<i64>::new([usize::MAX, 1].into_iter(), 2);
        assert!(matches!(wide, Err(Error::Memory(_))));
    }
}
