//! Sealing, unsealing, resealing and inspecting columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealcomb_columns::{Binding, Column, Error, Forged, Resealing, Threads, Unsealed, Unsealing};

use crate::arguments::{AsType, Context};
use crate::errors::raise;
use crate::exchange::{Imported, import};
use crate::keyset::Keyset;
use crate::threads;

fn parse_forged(forged: &str) -> PyResult<Forged> {
    match forged {
        "raise" => Ok(Forged::Raise),
        "null" => Ok(Forged::Null),
        _ => Err(PyValueError::new_err(format!("forged={forged:?}; use \"raise\" or \"null\""))),
    }
}

/// Imports row ids.
fn ids(row_ids: Option<&Bound<'_, PyAny>>, function: &str) -> PyResult<Option<Vec<ArrayRef>>> {
    row_ids.map(|ids| Ok(import(ids, function)?.column.chunks)).transpose()
}

/// A call on a column.
struct Call<'a, 'py> {
    function: &'static str,
    array: &'a Bound<'py, PyAny>,
    imported: Imported,
    threads: std::num::NonZero<usize>,
}

impl<'a, 'py> Call<'a, 'py> {
    fn new(function: &'static str, array: &'a Bound<'py, PyAny>, threads: Option<usize>) -> PyResult<Self> {
        let threads = threads::count(threads)?;
        Ok(Self { function, array, imported: import(array, function)?, threads })
    }

    /// Runs `work` without the GIL.
    fn run<T: Send>(
        &self,
        work: impl FnOnce(&Column, Threads<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let column = &self.imported.column;
        threads::run(self.array.py(), self.threads, |threads| work(column, threads))?.map_err(|error| {
            match error {
                Error::Type(text) => raise(Error::Type(format!("{}: {text}", self.function))),
                other => raise(other),
            }
        })
    }

    fn export(&self, result: Column) -> PyResult<Bound<'py, PyAny>> {
        self.imported.export(self.array, result)
    }
}

/// Seals every value of an Arrow column under the keyset's primary key.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context, row_ids = None, threads = None),
    text_signature = "(array, keyset, *, context, row_ids=None, threads=None)"
)]
pub(crate) fn seal_column<'py>(
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Context<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new("seal_column", array, threads)?;
    let (keyset, ids) = (&keyset.get().0, ids(row_ids, call.function)?);
    let binding = Binding { context: &context, row_ids: ids.as_deref() };
    call.export(call.run(|column, threads| sealcomb_columns::seal(column, keyset, binding, threads))?)
}

/// Opens every value of a sealed Arrow column.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context, row_ids = None, forged = "raise", as_type = None, plain = Vec::new(), threads = None),
    text_signature = "(array, keyset, *, context, row_ids=None, forged='raise', as_type=None, plain=(), threads=None)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn unseal_column<'py>(
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Context<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    forged: &str,
    as_type: Option<AsType>,
    plain: Vec<String>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new("unseal_column", array, threads)?;
    let unsealing = unsealing(parse_forged(forged)?, as_type, plain);
    Ok(unseal(&call, keyset, &context, row_ids, unsealing)?.0)
}

/// Opens a column with nulls for values that do not open, and counts them.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context, row_ids = None, as_type = None, plain = Vec::new(), threads = None),
    text_signature = "(array, keyset, *, context, row_ids=None, as_type=None, plain=(), threads=None)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn unseal_column_counted<'py>(
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Context<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    as_type: Option<AsType>,
    plain: Vec<String>,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let call = Call::new("unseal_column_counted", array, threads)?;
    unseal(&call, keyset, &context, row_ids, unsealing(Forged::Null, as_type, plain))
}

fn unsealing(forged: Forged, as_type: Option<AsType>, plain: Vec<String>) -> Unsealing {
    Unsealing { forged, as_type: as_type.map(|AsType(data_type)| data_type), plain }
}

fn unseal<'py>(
    call: &Call<'_, 'py>,
    keyset: &Bound<'py, Keyset>,
    context: &[u8],
    row_ids: Option<&Bound<'py, PyAny>>,
    unsealing: Unsealing,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let (keyset, ids) = (&keyset.get().0, ids(row_ids, call.function)?);
    let binding = Binding { context, row_ids: ids.as_deref() };
    let Unsealed { column, unopened } =
        call.run(|column, threads| sealcomb_columns::unseal(column, keyset, binding, unsealing, threads))?;
    Ok((call.export(column)?, unopened))
}

/// Opens a column and seals it again under the keyset's primary key.
#[pyfunction]
#[pyo3(
    signature = (array, keyset, *, context, row_ids = None, new_context = None, new_row_ids = None, forged = "raise", plain = Vec::new(), threads = None),
    text_signature = "(array, keyset, *, context, row_ids=None, new_context=None, new_row_ids=None, forged='raise', plain=(), threads=None)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn reseal_column<'py>(
    array: &Bound<'py, PyAny>,
    keyset: &Bound<'py, Keyset>,
    context: Context<'_>,
    row_ids: Option<&Bound<'py, PyAny>>,
    new_context: Option<Context<'_>>,
    new_row_ids: Option<&Bound<'py, PyAny>>,
    forged: &str,
    plain: Vec<String>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new("reseal_column", array, threads)?;
    let (keyset, resealing) = (&keyset.get().0, Resealing { forged: parse_forged(forged)?, plain });
    let (ids, new_ids) = (ids(row_ids, call.function)?, ids(new_row_ids.or(row_ids), call.function)?);
    let old = Binding { context: &context, row_ids: ids.as_deref() };
    let new_context = new_context.as_deref().unwrap_or(&context);
    let new = Binding { context: new_context, row_ids: new_ids.as_deref() };
    let resealed =
        call.run(|column, threads| sealcomb_columns::reseal(column, keyset, [old, new], resealing, threads))?;
    call.export(resealed.column)
}

/// Returns the ids of the elements of lists with these lengths, as binary.
#[pyfunction]
pub(crate) fn element_ids<'py>(
    row_ids: &Bound<'py, PyAny>,
    lengths: Vec<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let imported = import(row_ids, "element_ids")?;
    let ids = sealcomb_columns::element_ids(&imported.column.chunks, &lengths).map_err(raise)?;
    let field = Arc::new(Field::new("", DataType::Binary, true));
    imported.export(row_ids, Column { field, chunks: vec![Arc::new(ids)] })
}

/// Counts the values of a sealed column by key id. Returns `None` if any value is not a sealed value.
#[pyfunction]
#[pyo3(signature = (array, *, plain = Vec::new()), text_signature = "(array, *, plain=())")]
pub(crate) fn inspect_column(
    array: &Bound<'_, PyAny>,
    plain: Vec<String>,
) -> PyResult<Option<BTreeMap<u32, usize>>> {
    let imported = import(array, "inspect_column")?;
    array.py().detach(|| sealcomb_columns::inspect(&imported.column, &plain)).map_err(raise)
}
