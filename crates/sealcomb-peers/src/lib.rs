//! sealcomb against libraries that need a C compiler or headers to build: tests and benches only, kept apart so that
//! neither the library nor the command ever needs them.
