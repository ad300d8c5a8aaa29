//! An allocator whose memory can be inspected after it was freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

const ARENA: usize = 32 << 20;
const FRESH: u8 = 0xC7;

/// Memory that is never reused, so that freed memory keeps its contents.
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

// SAFETY: memory comes from the system allocator or from the arena. The arena returns aligned, disjoint parts of
// memory that it owns.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IN_USE.get() {
            // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
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
            // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`, and `place` is from the system
            // allocator.
            unsafe { System.dealloc(place, layout) }
        }
    }
}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Runs `work`, whose library calls allocate in the arena, and returns the contents of the arena afterward.
fn left_by(work: impl FnOnce()) -> Vec<u8> {
    let mut arena = HERE.get();
    if arena.start.is_null() {
        // Leaked, so that both runs on this thread use the same memory.
        arena.start = vec![FRESH; ARENA].leak().as_mut_ptr();
    }
    // SAFETY: the memory belongs to the arena, and all objects in it were dropped.
    unsafe { arena.start.write_bytes(FRESH, arena.used) };
    HERE.set(Arena { used: 0, ..arena });
    work();
    let used = HERE.get().used;
    // SAFETY: the memory belongs to the arena, and was initialized with `FRESH`.
    unsafe { std::slice::from_raw_parts(arena.start, used) }.to_vec()
}

/// Runs a call that allocates in the arena.
pub(crate) fn in_arena<R>(call: impl FnOnce() -> R) -> R {
    IN_USE.set(true);
    let result = call();
    IN_USE.set(false);
    result
}

/// Runs `work` with two secrets and returns the offsets at which the arena differs afterward.
pub(crate) fn differences(work: impl Fn(u64)) -> Vec<usize> {
    let (first, second) = (left_by(|| work(1)), left_by(|| work(2)));
    assert_eq!(first.len(), second.len(), "the number of bytes allocated depends on the secret");
    first.iter().zip(&second).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect()
}
