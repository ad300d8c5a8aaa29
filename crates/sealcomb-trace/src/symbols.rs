//! The functions of a program, by address.

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::fs;
use std::io;

pub(crate) struct Symbols {
    functions: Vec<Function>,
    /// Difference between an address in memory and the one in the file.
    offset: u64,
}

struct Function {
    start: u64,
    end: u64,
    name: String,
}

impl Symbols {
    /// Reads the symbols of a program that is mapped at address `base`.
    pub(crate) fn of(program: &str, base: u64) -> io::Result<Self> {
        let bytes = fs::read(program)?;
        let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
        let mut functions: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .map(|symbol| Function {
                start: symbol.address(),
                end: symbol.address() + symbol.size(),
                name: format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or("?"))),
            })
            .collect();
        functions.sort_by_key(|function| function.start);
        let lowest = file.segments().map(|segment| segment.address()).min().unwrap_or(0);
        Ok(Self { functions, offset: base.wrapping_sub(lowest) })
    }

    /// Converts an address in memory to the one in the file.
    pub(crate) fn in_file(&self, address: u64) -> u64 {
        address.wrapping_sub(self.offset)
    }

    /// Returns the name of the function at an address in memory.
    pub(crate) fn function(&self, address: u64) -> &str {
        let address = self.in_file(address);
        let after = self.functions.partition_point(|function| function.start <= address);
        match after.checked_sub(1).map(|at| &self.functions[at]) {
            Some(function) if address < function.end => &function.name,
            _ => "unknown code",
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.name.as_str())
    }
}
