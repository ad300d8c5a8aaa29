//! The arrays that OpenSSL passes to pipelines.

use std::{ptr, slice};

use arrayvec::ArrayVec;

use crate::data::Buffers;
use crate::errors::{Outcome, Refused};

/// Maximum number of messages per call. OpenSSL 4.0 passes at most 32 (`EVP_MAX_PIPES`).
pub(crate) const MESSAGES: usize = 128;

/// The arrays of an update: one entry per message. Each array may be NULL.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) count: usize,
    pub(crate) inputs: *const *const u8,
    pub(crate) input_bytes: *const usize,
    pub(crate) outputs: *const *mut u8,
    pub(crate) rooms: *const usize,
}

/// Returns an entry of an array, or `otherwise` if there is no array.
///
/// # Safety
/// The array is NULL or has more than `index` entries.
unsafe fn entry_of<T: Copy>(array: *const T, index: usize, otherwise: T) -> T {
    // SAFETY: guaranteed by the caller.
    if array.is_null() { otherwise } else { unsafe { *array.add(index) } }
}

/// The addresses that a message uses, in the order of which they are compared.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Used {
    start: usize,
    end: usize,
    message: usize,
}

impl Used {
    /// Returns the addresses of a buffer; `None` if it is empty.
    fn new(buffer: *const u8, bytes: usize, message: usize) -> Option<Self> {
        let start = buffer.addr();
        (bytes > 0).then(|| Self { start, end: start.saturating_add(bytes), message })
    }
}

impl Columns {
    /// Returns the columns of empty messages.
    pub(crate) fn empty(count: usize) -> Self {
        Self {
            count,
            inputs: ptr::null(),
            input_bytes: ptr::null(),
            outputs: ptr::null(),
            rooms: ptr::null(),
        }
    }

    /// Returns the buffers of a message; NULL and 0 where there is no array.
    ///
    /// # Safety
    /// Each array is NULL or has more than `index` entries.
    pub(crate) unsafe fn at(&self, index: usize) -> Buffers {
        // SAFETY: guaranteed by the caller.
        unsafe {
            Buffers {
                input: entry_of(self.inputs, index, ptr::null()),
                count: entry_of(self.input_bytes, index, 0),
                output: entry_of(self.outputs, index, ptr::null_mut()),
                room: entry_of(self.rooms, index, 0),
            }
        }
    }

    /// Refuses an output of which other messages use a byte, as input or output: whatever the order of the messages, one
    /// would be lost. A message's own input and output may overlap, and so may the inputs of several messages.
    /// `output_bytes` are the numbers of bytes that are written.
    ///
    /// # Safety
    /// See [`Columns::at`].
    pub(crate) unsafe fn check_overlaps(&self, output_bytes: &[usize]) -> Outcome {
        // SAFETY: guaranteed by the caller.
        let buffers = |index| unsafe { self.at(index) };
        let mut outputs = ArrayVec::<Used, MESSAGES>::new();
        for (index, &bytes) in output_bytes.iter().enumerate() {
            outputs.extend(Used::new(buffers(index).output, bytes, index));
        }
        if !outputs.is_sorted() {
            outputs.sort_unstable();
        }
        if outputs.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return Err(Refused::PARTIALLY_OVERLAPPING);
        }
        for index in 0..self.count {
            let Buffers { input, count, .. } = buffers(index);
            let Some(input) = Used::new(input, count, index) else { continue };
            let first = outputs.partition_point(|output| output.end <= input.start);
            let mut met = outputs[first..].iter().take_while(|output| output.start < input.end);
            if met.any(|output| output.message != index) {
                return Err(Refused::PARTIALLY_OVERLAPPING);
            }
        }
        Ok(())
    }

    /// Moves all inputs to their outputs, and returns the outputs. Refuses NULL, too small an output, and overlaps that
    /// [`Columns::check_overlaps`] refuses, before anything is written.
    ///
    /// # Safety
    /// See [`Columns::at`]. The inputs are valid for reads and the outputs for writes as long as
    /// the slices are used, with no other use.
    #[inline(always)]
    pub(crate) unsafe fn fill(&self, messages: &mut ArrayVec<&mut [u8], MESSAGES>) -> Outcome {
        // In place, with all arrays: the usual case, without a branch per array and message.
        // SAFETY: guaranteed by the caller.
        if let Some(outputs) = unsafe { self.in_place() } {
            messages.extend(outputs);
            return Ok(());
        }
        // SAFETY: guaranteed by the caller. The slice of an empty message is valid for any pointer.
        unsafe {
            let mut bytes = [0; MESSAGES];
            for (index, bytes) in bytes[..self.count].iter_mut().enumerate() {
                let buffers = self.at(index);
                buffers.check()?;
                *bytes = buffers.count;
            }
            self.check_overlaps(&bytes[..self.count])?;
            for index in 0..self.count {
                let Buffers { input, count, output, .. } = self.at(index);
                if count > 0 && !ptr::eq(input, output) {
                    ptr::copy(input, output, count);
                }
                messages.push(if count == 0 { &mut [] } else { slice::from_raw_parts_mut(output, count) });
            }
        }
        Ok(())
    }

    /// Returns the outputs if every message is in place, not empty, and behind the previous one, and fits.
    ///
    /// # Safety
    /// See [`Columns::fill`].
    #[inline(always)]
    unsafe fn in_place<'a>(&self) -> Option<impl Iterator<Item = &'a mut [u8]> + use<'a>> {
        let Self { count, inputs, input_bytes, outputs, rooms } = *self;
        if inputs.is_null() || input_bytes.is_null() || outputs.is_null() || rooms.is_null() {
            return None;
        }
        // SAFETY: guaranteed by the caller.
        let (inputs, sizes, outputs, rooms) = unsafe {
            (
                slice::from_raw_parts(inputs, count),
                slice::from_raw_parts(input_bytes, count),
                slice::from_raw_parts(outputs, count),
                slice::from_raw_parts(rooms, count),
            )
        };
        let (mut all, mut end) = (true, 0);
        for (((input, bytes), output), room) in inputs.iter().zip(sizes).zip(outputs).zip(rooms) {
            all &= ptr::eq(*input, *output);
            all &= !output.is_null();
            all &= *bytes > 0;
            all &= bytes <= room;
            all &= isize::try_from(*bytes).is_ok();
            all &= end <= output.addr();
            end = output.addr().saturating_add(*bytes);
        }
        // SAFETY: guaranteed by the caller.
        let slice =
            |(output, bytes): (&*mut u8, &usize)| unsafe { slice::from_raw_parts_mut(*output, *bytes) };
        all.then(|| outputs.iter().zip(sizes).map(slice))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A range of an arena: its start and its size.
    pub(crate) type Place = (usize, usize);

    fn meet(a: Place, b: Place) -> bool {
        a.1 > 0 && b.1 > 0 && a.0 < b.0 + b.1 && b.0 < a.0 + a.1
    }

    /// Returns whether a message loses bytes to the output of another one, by comparing all pairs.
    pub(crate) fn is_lost(messages: &[(Place, Place)]) -> bool {
        (0..messages.len()).any(|one| {
            let others = messages.iter().enumerate().filter(|(other, _)| *other != one);
            others
                .into_iter()
                .any(|(_, (input, output))| meet(messages[one].1, *input) || meet(messages[one].1, *output))
        })
    }

    /// Calls `work` with the columns of messages in an arena.
    pub(crate) fn with_columns<T>(
        arena: &mut [u8],
        messages: &[(Place, Place)],
        work: impl FnOnce(Columns) -> T,
    ) -> T {
        let start = arena.as_mut_ptr();
        let inputs: Vec<*const u8> =
            messages.iter().map(|(input, _)| start.wrapping_add(input.0).cast_const()).collect();
        let outputs: Vec<*mut u8> = messages.iter().map(|(_, output)| start.wrapping_add(output.0)).collect();
        let input_bytes: Vec<usize> = messages.iter().map(|(input, _)| input.1).collect();
        let rooms: Vec<usize> = messages.iter().map(|(_, output)| output.1).collect();
        work(Columns {
            count: messages.len(),
            inputs: inputs.as_ptr(),
            input_bytes: input_bytes.as_ptr(),
            outputs: outputs.as_ptr(),
            rooms: rooms.as_ptr(),
        })
    }

    /// Returns random messages of some sizes at random places, some of them in place.
    fn random_messages(random: &mut impl FnMut(usize) -> usize, same_sizes: bool) -> Vec<(Place, Place)> {
        let near = 8 << random(4);
        (0..=random(6))
            .map(|_| {
                let (input, input_bytes) = (random(near), random(6));
                let output = if random(2) == 0 { input } else { random(near) };
                let output_bytes = if same_sizes { input_bytes } else { random(6) };
                ((input, input_bytes), (output, output_bytes))
            })
            .collect()
    }

    /// The generator splitmix64.
    pub(crate) fn generator() -> impl FnMut(usize) -> usize {
        let mut state = 1_u64;
        move |below| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((mixed ^ mixed >> 31) % below as u64).unwrap()
        }
    }

    #[test]
    fn an_overlap_is_refused_exactly_if_a_message_would_be_lost() {
        let mut random = generator();
        let mut refusals = 0;
        for _ in 0..50_000 {
            let messages = random_messages(&mut random, false);
            let output_bytes: Vec<usize> = messages.iter().map(|(_, output)| output.1).collect();
            // SAFETY: the columns have an entry per message, and nothing is read or written.
            let outcome = with_columns(&mut [0; 80], &messages, |columns| unsafe {
                columns.check_overlaps(&output_bytes)
            });
            assert_eq!(outcome.is_err(), is_lost(&messages), "{messages:?}");
            refusals += u32::from(outcome.is_err());
        }
        assert!((10_000..40_000).contains(&refusals), "{refusals} of 50000 are refused");
    }

    #[test]
    fn every_input_is_moved_whole_or_nothing_is_written() {
        let mut random = generator();
        for _ in 0..50_000 {
            let messages = random_messages(&mut random, true);
            let before: Vec<u8> = (0..80).collect();
            let mut arena = before.clone();
            let moved = with_columns(&mut arena, &messages, |columns| {
                let mut outputs = ArrayVec::new();
                // SAFETY: the buffers are in the arena, and the outputs do not overlap if the call succeeds.
                unsafe { columns.fill(&mut outputs) }
                    .map(|()| outputs.iter().map(|output| output.to_vec()).collect::<Vec<_>>())
            });
            match moved {
                Err(refused) => {
                    assert!(is_lost(&messages) && refused == Refused::PARTIALLY_OVERLAPPING, "{messages:?}");
                    assert_eq!(arena, before, "{messages:?}");
                }
                Ok(outputs) => {
                    let inputs: Vec<_> =
                        messages.iter().map(|((at, bytes), _)| before[*at..at + bytes].to_vec()).collect();
                    assert!(!is_lost(&messages) && outputs == inputs, "{messages:?}");
                }
            }
        }
    }
}
