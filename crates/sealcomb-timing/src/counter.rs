//! The CPU's cycle counter, if the kernel lets a process read it.

#[cfg(target_os = "linux")]
pub(crate) use linux::Counter;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::Counter;

#[cfg(target_os = "linux")]
mod linux {
    use perf_event::{Builder, events::Hardware};

    /// A running counter of the core cycles that this thread spends in user mode.
    pub(crate) struct Counter(perf_event::Counter);

    impl Counter {
        /// Opens the counter. Returns `None` if the kernel or the hypervisor does not provide it.
        pub(crate) fn open() -> Option<Self> {
            let mut counter =
                Builder::new(Hardware::CPU_CYCLES).exclude_kernel(true).exclude_hv(true).build().ok()?;
            counter.enable().ok()?;
            Some(Self(counter))
        }

        /// Returns the core cycles that `work` takes.
        pub(crate) fn cycles(&mut self, work: impl FnOnce()) -> f64 {
            let start = self.read();
            work();
            (self.read() - start) as f64
        }

        fn read(&mut self) -> u64 {
            self.0.read().expect("an open and running counter can be read")
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unsupported {
    /// A counter on operating systems without a supported one; it cannot be opened.
    pub(crate) enum Counter {}

    impl Counter {
        pub(crate) fn open() -> Option<Self> {
            None
        }

        pub(crate) fn cycles(&mut self, _work: impl FnOnce()) -> f64 {
            match *self {}
        }
    }
}
