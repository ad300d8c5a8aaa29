//! An allocator whose memory can be looked at after it was freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

const ARENA: usize = 32 << 20;
const FRESH: u8 = 0xC7;

/// Memory that is handed out once, so that what is freed stays as it was.
#[derive(Clone, Copy)]
struct Arena {
    start: *mut u8,
    used: usize,
}

impl Arena {
    fn has(self, place: *mut u8) -> bool {
        (self.start.addr()..self.start.addr() + ARENA).contains(&place.addr())
    }
}

thread_local! {
    static HERE: Cell<Arena> = const { Cell::new(Arena { start: ptr::null_mut(), used: 0 }) };
    static IN_USE: Cell<bool> = const { Cell::new(false) };
}

struct Allocator;

// SAFETY: what is not the arena's is the system's. The arena hands out parts of memory that it owns, aligned, each
// once.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IN_USE.get() {
            // SAFETY: the caller's.
            return unsafe { System.alloc(layout) };
        }
        let arena = HERE.get();
        let place = (arena.start.addr() + arena.used).next_multiple_of(layout.align()) - arena.start.addr();
        let used = place + layout.size();
        if used > ARENA {
            return ptr::null_mut();
        }
        HERE.set(Arena { used, ..arena });
        arena.start.wrapping_add(place)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if !HERE.get().has(place) {
            // SAFETY: the caller's, and it came from there.
            unsafe { System.dealloc(place, layout) }
        }
    }
}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Does some work whose memory comes from an arena, and returns what is left in it.
fn left_by(work: impl FnOnce()) -> Vec<u8> {
    let mut arena = HERE.get();
    if arena.start.is_null() {
        // Of this thread for as long as the process lives: both times it is the same memory.
        arena.start = vec![FRESH; ARENA].leak().as_mut_ptr();
    }
    // SAFETY: the arena's memory, in which nothing lives.
    unsafe { arena.start.write_bytes(FRESH, arena.used) };
    HERE.set(Arena { used: 0, ..arena });
    work();
    let used = HERE.get().used;
    // SAFETY: the arena's memory, all of it written at the beginning.
    unsafe { std::slice::from_raw_parts(arena.start, used) }.to_vec()
}

/// Runs a call with the arena in use.
pub(crate) fn in_arena<R>(call: impl FnOnce() -> R) -> R {
    IN_USE.set(true);
    let result = call();
    IN_USE.set(false);
    result
}

/// Where what is left by some work with one secret differs from what is left with another.
pub(crate) fn differences(work: impl Fn(u64)) -> Vec<usize> {
    let (first, second) = (left_by(|| work(1)), left_by(|| work(2)));
    assert_eq!(first.len(), second.len(), "as much memory whatever the secret");
    first.iter().zip(&second).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect()
}
