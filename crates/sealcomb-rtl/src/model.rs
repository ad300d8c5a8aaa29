//! A Verilator model: ports by name, and a clock. The only `unsafe` of this crate: calls of the models' C functions, and
//! the places of their ports.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

/// A top of this build, and the functions of its model.
pub(crate) struct Top {
    name: &'static str,
    create: unsafe extern "C" fn(c_int) -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    eval: unsafe extern "C" fn(*mut c_void),
    port: unsafe extern "C" fn(*mut c_void, c_uint) -> *mut c_void,
    ports: &'static [PortShape],
}

struct PortShape {
    name: &'static str,
    bits: usize,
    bytes: usize,
    input: bool,
}

include!(concat!(env!("OUT_DIR"), "/tops.rs"));

/// A port of one model. It must be used with the model that it was asked of.
#[derive(Clone, Copy)]
pub struct Port {
    place: NonNull<u8>,
    bits: usize,
    bytes: usize,
    input: bool,
}

impl Port {
    /// Its width.
    pub fn bits(&self) -> usize {
        self.bits
    }
}

/// Whether this build has the top of this name: `SEALCOMB_RTL_TOPS` and `SEALCOMB_RTL_VARIANTS` leave some out.
pub fn is_built(name: &str) -> bool {
    TOPS.iter().any(|top| top.name == name)
}

/// A running model of a top, with the clock `clk` and the synchronous reset `rst`.
pub struct Model {
    top: &'static Top,
    state: NonNull<c_void>,
    clk: Port,
    clock: u64,
}

impl Model {
    /// A model of the top of this name in the lists, reset. The seed is for what registers hold before that.
    ///
    /// # Panics
    /// If the build has no such top, or the top no `clk` and `rst`.
    pub fn new(name: &str, seed: u32) -> Self {
        let top = TOPS
            .iter()
            .find(|top| top.name == name)
            .unwrap_or_else(|| panic!("no top {name} in this build: see crates/sealcomb-rtl/tops.list"));
        let seed = c_int::try_from(seed % 0x7fff_ffff).expect("31 bits") + 1;
        // SAFETY: the shim's function takes any positive number.
        let state = unsafe { (top.create)(seed) };
        let state = NonNull::new(state).expect("C++'s new gives no null");
        let clk = find(top, state, "clk");
        let mut model = Self { top, state, clk, clock: 0 };
        model.reset();
        model
    }

    /// Three clocks of reset. The clock's number is 0 after it.
    pub fn reset(&mut self) {
        let rst = self.port("rst");
        self.set(rst, 1);
        for _ in 0..3 {
            self.settle();
            self.tick();
        }
        self.set(rst, 0);
        self.clock = 0;
    }

    /// The port of this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn port(&self, name: &str) -> Port {
        find(self.top, self.state, name)
    }

    /// Whether there is a port of this name.
    pub fn has(&self, name: &str) -> bool {
        self.top.ports.iter().any(|port| port.name == name)
    }

    /// Sets an input of at most 64 bits.
    ///
    /// # Panics
    /// If the port is an output or the value does not fit.
    pub fn set(&mut self, port: Port, value: u64) {
        assert!(
            port.bits >= 64 || value >> port.bits == 0,
            "{value:#x} does not fit into {} bits",
            port.bits
        );
        self.set_bytes(port, &value.to_le_bytes()[..port.bytes.min(8)]);
    }

    /// Sets an input: the first byte is its bits 7:0. What is missing is zero; what is too much must be.
    ///
    /// # Panics
    /// If the port is an output or the value does not fit.
    pub fn set_bytes(&mut self, port: Port, value: &[u8]) {
        assert!(port.input, "an output cannot be set");
        let fits = value.len().min(port.bits.div_ceil(8));
        assert!(value[fits..].iter().all(|&byte| byte == 0), "a value wider than {} bits", port.bits);
        // SAFETY: the place is a port of a live model, `bytes` long: Verilator keeps it as a little-endian number or as
        // little-endian 32-bit words with the lowest first, and nothing else refers to it while the model is borrowed.
        let place = unsafe { std::slice::from_raw_parts_mut(port.place.as_ptr(), port.bytes) };
        place[..fits].copy_from_slice(&value[..fits]);
        place[fits..].fill(0);
    }

    /// The value of a port of at most 64 bits.
    ///
    /// # Panics
    /// If the port is wider.
    pub fn get(&self, port: Port) -> u64 {
        assert!(port.bits <= 64, "a port of {} bits", port.bits);
        let mut bytes = [0; 8];
        bytes[..port.bytes].copy_from_slice(self.bytes(port));
        u64::from_le_bytes(bytes)
    }

    /// Whether a port of one bit is high.
    pub fn is_high(&self, port: Port) -> bool {
        self.get(port) == 1
    }

    /// The value of a port: the first byte is its bits 7:0.
    pub fn bytes(&self, port: Port) -> &[u8] {
        // SAFETY: as in `set_bytes`; the model is not evaluated while the slice is borrowed.
        unsafe { std::slice::from_raw_parts(port.place.as_ptr(), port.bytes) }
    }

    /// Lets the outputs follow the inputs within this clock.
    pub fn settle(&mut self) {
        self.set(self.clk, 0);
        self.eval();
    }

    /// The clock's rising edge.
    pub fn tick(&mut self) {
        self.set(self.clk, 1);
        self.eval();
        self.clock += 1;
    }

    /// Rising edges since the reset.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    fn eval(&mut self) {
        // SAFETY: the model is live.
        unsafe { (self.top.eval)(self.state.as_ptr()) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the model is live, and not used again.
        unsafe { (self.top.destroy)(self.state.as_ptr()) }
    }
}

fn find(top: &Top, state: NonNull<c_void>, name: &str) -> Port {
    let index = top.ports.iter().position(|port| port.name == name);
    let index = index.unwrap_or_else(|| panic!("{} has no port {name}", top.name));
    let PortShape { bits, bytes, input, .. } = top.ports[index];
    // SAFETY: the model is live and of this top, which has a port of this number.
    let place = unsafe { (top.port)(state.as_ptr(), c_uint::try_from(index).expect("a small number")) };
    Port { place: NonNull::new(place.cast()).expect("the place of a port"), bits, bytes, input }
}
