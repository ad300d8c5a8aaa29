//! Seals the columns of Arrow tables: the core of sealcomb's bindings for Python, DuckDB and the JVM.
//!
//! A [`Keyset`] holds Tink keys. [`seal`] seals every value of a [`Column`] under its primary key, and [`unseal`] opens
//! what any of its keys sealed. Sealed values have Tink's format, so Tink opens them one by one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{Array, Int64Array};
//! use arrow_schema::{DataType, Field};
//! use sealcomb_columns::{Binding, Column, Keyset, Unsealing, Threads, seal, unseal};
//!
//! let salaries = Arc::new(Int64Array::from(vec![Some(51_000), None, Some(48_500)]));
//! let column = Column {
//!     field: Arc::new(Field::new("salary", DataType::Int64, true)),
//!     chunks: vec![salaries.clone()],
//! };
//! let keyset = Keyset::generate("random")?;
//! let binding = Binding { context: b"people.salary", row_ids: None };
//!
//! let sealed = seal(&column, &keyset, binding, Threads::default())?;
//! assert_eq!(sealed.field.data_type(), &DataType::Binary);
//!
//! // The field's metadata contains the type, so unsealing restores it.
//! let opened = unseal(&sealed, &keyset, binding, Unsealing::default(), Threads::default())?;
//! assert_eq!(opened.column.chunks[0].to_data(), salaries.to_data());
//! # Ok::<(), sealcomb_columns::Error>(())
//! ```
#![forbid(unsafe_code)]
// A length that is cut would be that of other data.
#![warn(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod binding;
mod column;
mod domain;
mod envelope;
mod error;
mod keyset;
mod kind;
mod leaves;
mod memory;
mod names;
mod nested;
mod protojson;
mod slots;
mod threads;
mod tink;
mod types;
mod values;

pub use binding::{Binding, element_ids};
pub use column::{
    Column, Forged, Resealing, Unsealed, Unsealing, inspect, reseal, seal, seal_leaves, unseal,
};
pub use domain::first_outside;
pub use error::{Error, Mismatch, Reason, UnopenedRow};
pub use keyset::Keyset;
pub use leaves::sealed_leaves;
pub use names::{parse_nested_type, parse_type, type_name};
pub use nested::leaf_paths;
pub use threads::{Interrupted, Threads};
pub use tink::encrypted_keyset;
pub use types::{TYPE_KEY, VERSION_KEY, sealed_field, sealed_type};
