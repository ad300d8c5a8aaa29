//! A Verilator model: ports by name, and a clock. This module contains the only `unsafe` code of the crate: calls of
//! the models' C functions, and access to the memory of their ports.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

/// A top of this build, and the C functions of its model.
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

/// A port of a model. It must only be used with the model that returned it.
#[derive(Clone, Copy)]
pub struct Port {
    place: NonNull<u8>,
    bits: usize,
    bytes: usize,
    input: bool,
}

impl Port {
    /// The port's width in bits.
    pub fn bits(&self) -> usize {
        self.bits
    }
}

/// A running model of a top, with the clock `clk` and the synchronous reset `rst`.
pub struct Model {
    top: &'static Top,
    state: NonNull<c_void>,
    clk: Port,
    clock: u64,
}

impl Model {
    /// Creates and resets a model of a top, by its name in the lists. The seed determines the values of registers
    /// before the reset.
    ///
    /// # Panics
    /// If the build does not have the top, or the top lacks `clk` or `rst`.
    pub fn new(name: &str, seed: u32) -> Self {
        let top = TOPS
            .iter()
            .find(|top| top.name == name)
            .unwrap_or_else(|| panic!("no top `{name}` in this build; see crates/sealcomb-rtl/tops.list"));
        let seed = c_int::try_from(seed % 0x7fff_ffff).expect("31 bits") + 1;
        // SAFETY: the shim's function accepts any positive number.
        let state = unsafe { (top.create)(seed) };
        let state = NonNull::new(state).expect("C++'s new does not return null");
        let clk = find(top, state, "clk");
        let mut model = Self { top, state, clk, clock: 0 };
        model.reset();
        model
    }

    /// Resets the model for three clocks, and then sets the clock number to 0.
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

    /// Returns the port of this name.
    ///
    /// # Panics
    /// If the top does not have it.
    pub fn port(&self, name: &str) -> Port {
        find(self.top, self.state, name)
    }

    /// Whether the top has a port of this name.
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
            "value {value:#x}; the port has {} bits",
            port.bits
        );
        self.set_bytes(port, &value.to_le_bytes()[..port.bytes.min(8)]);
    }

    /// Sets an input. The first byte is bits 7:0. Missing bytes are zero; bytes beyond the port must be zero.
    ///
    /// # Panics
    /// If the port is an output or the value does not fit.
    pub fn set_bytes(&mut self, port: Port, value: &[u8]) {
        assert!(port.input, "cannot set an output");
        let fits = value.len().min(port.bits.div_ceil(8));
        assert!(
            value[fits..].iter().all(|&byte| byte == 0),
            "value of {} bytes; the port has {} bits",
            value.len(),
            port.bits
        );
        // SAFETY: `place` points to `bytes` bytes, a port of a live model. Verilator stores it as a little-endian
        // number or as little-endian 32-bit words, lowest first. No other reference to it exists while the model is
        // borrowed.
        let place = unsafe { std::slice::from_raw_parts_mut(port.place.as_ptr(), port.bytes) };
        place[..fits].copy_from_slice(&value[..fits]);
        place[fits..].fill(0);
    }

    /// Returns the value of a port of at most 64 bits.
    ///
    /// # Panics
    /// If the port is wider.
    pub fn get(&self, port: Port) -> u64 {
        assert!(port.bits <= 64, "port of {} bits; at most 64 are supported", port.bits);
        let mut bytes = [0; 8];
        bytes[..port.bytes].copy_from_slice(self.bytes(port));
        u64::from_le_bytes(bytes)
    }

    /// Whether a port of one bit is high.
    pub fn is_high(&self, port: Port) -> bool {
        self.get(port) == 1
    }

    /// Returns the value of a port. The first byte is bits 7:0.
    pub fn bytes(&self, port: Port) -> &[u8] {
        // SAFETY: `place` points to `bytes` bytes, a port of a live model, which is not evaluated while the slice
        // borrows it.
        unsafe { std::slice::from_raw_parts(port.place.as_ptr(), port.bytes) }
    }

    /// Propagates the inputs to the combinational outputs, with the clock low.
    pub fn settle(&mut self) {
        self.set(self.clk, 0);
        self.eval();
    }

    /// Applies a rising edge of the clock.
    pub fn tick(&mut self) {
        self.set(self.clk, 1);
        self.eval();
        self.clock += 1;
    }

    /// Returns the number of rising edges since the reset.
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
        // SAFETY: the model is live and is not used afterwards.
        unsafe { (self.top.destroy)(self.state.as_ptr()) }
    }
}

fn find(top: &Top, state: NonNull<c_void>, name: &str) -> Port {
    let index = top.ports.iter().position(|port| port.name == name);
    let index = index.unwrap_or_else(|| panic!("{} has no port `{name}`", top.name));
    let PortShape { bits, bytes, input, .. } = top.ports[index];
    // SAFETY: the model is live and of this top, which has a port with this index.
    let place = unsafe { (top.port)(state.as_ptr(), c_uint::try_from(index).expect("a small number")) };
    Port { place: NonNull::new(place.cast()).expect("the address of a port"), bits, bytes, input }
}
