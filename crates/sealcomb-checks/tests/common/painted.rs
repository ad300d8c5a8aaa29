//! A stack that can be inspected after a call.

use std::ptr;

/// Size of the stack in pages, greater than any call uses.
const PAGES: usize = 64;
/// Number of words of a page.
const WORDS: usize = 512;
/// What a word contains that no call has written.
pub(crate) const PAINT: u64 = 0xA5C3_96F0_5A3C_690F;

/// Part of a stack. Its alignment makes that of all frames the same on each stack.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u64; WORDS]);

/// A stack for one call at a time.
pub(crate) struct Painted(Vec<Page>);

impl Painted {
    pub(crate) fn new() -> Self {
        Self(vec![Page([PAINT; WORDS]); PAGES])
    }

    /// Runs a call, and returns the stack from the deepest word that it wrote.
    pub(crate) fn call<R>(&mut self, call: impl FnOnce() -> R) -> (R, Vec<u64>) {
        let words = PAGES * WORDS;
        let base = self.0.as_mut_ptr().cast::<u64>();
        // SAFETY: the stack is the vector's memory, which is aligned, large enough, and unused until the call
        // returns.
        let result = unsafe { psm::on_stack(base.cast(), 8 * words, call) };
        // SAFETY: within the vector. Volatile, because the call wrote to it without the compiler's knowledge.
        let word = |i: usize| unsafe { ptr::read_volatile(base.add(i)) };
        let fresh = (0..words).take_while(|i| word(*i) == PAINT).count();
        assert!(fresh > words / 8, "a call used more than 7/8 of the measured stack; enlarge `PAGES`");
        let written = (fresh..words).map(word).collect();
        self.0[fresh / WORDS..].fill(Page([PAINT; WORDS]));
        (result, written)
    }
}
