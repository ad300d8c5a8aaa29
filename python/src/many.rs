//! `encrypt_many` and `decrypt_many`: many messages in one call.

use std::mem;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use numpy::ndarray::{ArrayViewMut2, Axis, Slice};
use numpy::{PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use sealcomb::{Aad, BatchError, Verdict, open_jobs, seal_jobs};
use sealcomb_columns::Interrupted;

use crate::aead::{self, Aead, NonceRule};
use crate::arguments::Item;
use crate::errors::ForgedMessages;
use crate::threads;

/// The number of messages in a batch of the library.
const BATCH: usize = 512;

/// The size in bytes of a task's results after which the task ends.
const TASK_BYTES: usize = 1 << 18;

/// The size in bytes of a round's results on several threads. A round begins by copying its rows, if the messages are an
/// array, and ends by converting its results to Python objects. On one thread, a round is a task, whose results stay in
/// the cache, and in memory that the operating system need not clear.
const ROUND_BYTES: usize = 1 << 22;

/// The messages of a call.
enum Messages<'py> {
    List(Vec<Item>),
    Array(Array<'py>),
}

impl<'py> Messages<'py> {
    fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if is_sequence(object) {
            return Ok(Self::List(items(object, |item| item.extract())?));
        }
        Array::new(object)?.map(Self::Array).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "data must be a list of bytes, or a numpy array of uint8 with one row per message, not {}",
                object.get_type()
            ))
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Array(array) => array.rows,
        }
    }

    fn bytes_of(&self, row: usize) -> usize {
        match self {
            Self::List(items) => items[row].len(),
            Self::Array(array) => array.width,
        }
    }

    /// Returns the messages of `rows`, which no other thread can change. Rows of an array are copied to `copies`.
    ///
    /// # Errors
    /// `RuntimeError` if the shape of an array changed, `MemoryError` if the copy cannot be allocated.
    fn load<'a>(&'a self, rows: &Range<usize>, copies: &'a mut Vec<u8>) -> PyResult<Rows<'a>> {
        match self {
            Self::List(items) => Ok(Rows::List(items)),
            Self::Array(array) => {
                array.copy(rows.clone(), copies)?;
                Ok(Rows::Even { bytes: copies, width: array.width, rows: (rows.start, rows.end) })
            }
        }
    }
}

/// One bytes-like argument per message, which no other thread can change.
enum Many {
    List(Vec<Item>),
    /// Consecutive rows of equal width.
    Even {
        bytes: Item,
        width: usize,
        rows: usize,
    },
}

impl Many {
    /// Takes a list, or a buffer of two dimensions. Returns `None` for any other object.
    fn new(
        object: &Bound<'_, PyAny>,
        item: impl Fn(&Bound<'_, PyAny>) -> PyResult<Item>,
    ) -> PyResult<Option<Self>> {
        if is_sequence(object) {
            return Ok(Some(Self::List(items(object, item)?)));
        }
        if let Some(array) = Array::new(object)? {
            let mut bytes = Vec::new();
            array.copy(0..array.rows, &mut bytes)?;
            return Ok(Some(Self::Even { bytes: Item::Copied(bytes), width: array.width, rows: array.rows }));
        }
        match PyBuffer::<u8>::get(object) {
            Ok(buffer) if buffer.dimensions() > 1 => {
                let [rows, width] = *buffer.shape() else {
                    return Err(PyTypeError::new_err(
                        "a buffer must have two dimensions (one row per message), or one",
                    ));
                };
                let bytes = Item::Copied(buffer.to_vec(object.py())?);
                Ok(Some(Self::Even { bytes, width, rows }))
            }
            _ => Ok(None),
        }
    }

    /// Takes nonces, which may also be a flat buffer of concatenated nonces of the standard length.
    fn nonces(rule: &NonceRule, object: &Bound<'_, PyAny>, messages: usize) -> PyResult<Self> {
        if let Some(many) = Self::new(object, |item| item.extract())? {
            return Ok(many);
        }
        let (bytes, NonceRule { name, standard, .. }) = (object.extract::<Item>()?, rule);
        if Some(bytes.len()) != messages.checked_mul(*standard) {
            let others = if rule.lengths.start() == rule.lengths.end() {
                ""
            } else {
                "; pass nonces of another length as a list, or as a two-dimensional array"
            };
            return Err(PyValueError::new_err(format!(
                "{} bytes of {name} for {messages} messages; expected {standard} bytes per message{others}",
                bytes.len()
            )));
        }
        Ok(Self::Even { bytes, width: *standard, rows: messages })
    }

    fn rows(&self) -> Rows<'_> {
        match self {
            Self::List(items) => Rows::List(items),
            Self::Even { bytes, width, rows } => Rows::Even { bytes, width: *width, rows: (0, *rows) },
        }
    }
}

/// A numpy array with one message per row, in any memory layout.
///
/// Another thread may change, resize or free the array during the call. Therefore, the array is read only under the
/// GIL, and copied.
struct Array<'py> {
    object: Bound<'py, PyArray2<u8>>,
    rows: usize,
    width: usize,
}

impl<'py> Array<'py> {
    /// Takes the object if it is a numpy array.
    fn new(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if !is_array(object)? {
            return Ok(None);
        }
        let array = object.cast::<PyArray2<u8>>().map_err(|_| {
            PyTypeError::new_err("an array must have two dimensions (one row per message) and the type uint8")
        })?;
        let [rows, width] = [array.shape()[0], array.shape()[1]];
        Ok(Some(Self { object: array.clone(), rows, width }))
    }

    /// Copies `rows` to `out` in row order.
    fn copy(&self, rows: Range<usize>, out: &mut Vec<u8>) -> PyResult<()> {
        let array = self.object.try_readonly().map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let from = array.as_array();
        if from.shape() != [self.rows, self.width] {
            return Err(PyRuntimeError::new_err("the shape of an array changed during the call"));
        }
        let from = from.slice_axis(Axis(0), Slice::from(rows.clone()));
        let bytes = from.len();
        out.clear();
        out.try_reserve(bytes)
            .map_err(|_| PyMemoryError::new_err(format!("cannot allocate {bytes} bytes to copy an array")))?;
        if let Some(bytes) = from.as_slice() {
            out.extend_from_slice(bytes);
        } else {
            out.resize(bytes, 0);
            let mut to = ArrayViewMut2::from_shape((rows.len(), self.width), out)
                .expect("it has the size of the rows");
            to.assign(&from);
        }
        Ok(())
    }
}

/// Returns whether the object is a numpy array. Masked arrays are refused, because the mask would be lost.
fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !has_numpy(object.py())? || !object.is_instance_of::<PyUntypedArray>() {
        return Ok(false);
    }
    if !object.is_exact_instance_of::<PyUntypedArray>() && object.hasattr("mask")? {
        return Err(PyTypeError::new_err(
            "masked arrays are not supported; fill the masked values with numpy.ma.filled",
        ));
    }
    Ok(true)
}

/// Returns whether numpy has been imported. Otherwise, no object can be an array.
///
/// The first borrow of an array imports parts of numpy and releases the GIL between its steps, so another thread could
/// change the array in between. Therefore, the first borrow is that of a new array.
fn has_numpy(py: Python<'_>) -> PyResult<bool> {
    static FOUND: AtomicBool = AtomicBool::new(false);
    if FOUND.load(Ordering::Relaxed) {
        return Ok(true);
    }
    let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let found = modules.get_item("numpy")?.is_some_and(|numpy| !numpy.is_none());
    if found {
        drop(zeros(py, 1, 1)?.readonly());
    }
    FOUND.store(found, Ordering::Relaxed);
    Ok(found)
}

/// Creates an array of zeros. numpy requests huge pages for large arrays.
fn zeros(py: Python<'_>, rows: usize, width: usize) -> PyResult<Bound<'_, PyArray2<u8>>> {
    let zeros = py.import("numpy")?.getattr("zeros")?;
    Ok(zeros.call1(((rows, width), numpy::dtype::<u8>(py)))?.cast_into()?)
}

/// Returns whether the object is a list or tuple.
fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

fn items(
    sequence: &Bound<'_, PyAny>,
    take: impl Fn(&Bound<'_, PyAny>) -> PyResult<Item>,
) -> PyResult<Vec<Item>> {
    // A subclass can report any length.
    let mut items = Vec::with_capacity(sequence.len()?.min(1 << 16));
    if let Ok(list) = sequence.cast_exact::<PyList>() {
        // Cheaper than Python's iterator. It ends early if an item's buffer shortens the list.
        for item in list {
            items.push(take(&item)?);
        }
        return Ok(items);
    }
    for item in sequence.try_iter()? {
        items.push(take(&item?)?);
    }
    Ok(items)
}

/// One byte string per message, in a form that threads can share.
#[derive(Clone, Copy)]
enum Rows<'a> {
    List(&'a [Item]),
    /// Consecutive rows of equal width, from the first index up to but excluding the second.
    Even {
        bytes: &'a [u8],
        width: usize,
        rows: (usize, usize),
    },
    Empty(usize),
}

impl<'a> Rows<'a> {
    fn len(self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Even { rows: (start, end), .. } => end - start,
            Self::Empty(rows) => rows,
        }
    }

    #[inline]
    fn get(self, row: usize) -> &'a [u8] {
        match self {
            Self::List(items) => &items[row],
            Self::Even { bytes, width, rows: (start, _) } => &bytes[(row - start) * width..][..width],
            Self::Empty(_) => &[],
        }
    }
}

/// The associated data of the messages.
enum Associated {
    /// One string for all messages.
    Same(Item),
    Each(Many),
    /// For SIV: any number of strings for all messages.
    SameStrings(Vec<Item>),
    EachStrings(Vec<Vec<Item>>),
}

impl Associated {
    /// `name` is that of the argument.
    fn new(name: &str, object: Option<&Bound<'_, PyAny>>, messages: usize) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::Same(Item::Copied(Vec::new()))) };
        // `None` means empty.
        let item = |item: &Bound<'_, PyAny>| {
            if item.is_none() { Ok(Item::Copied(Vec::new())) } else { item.extract() }
        };
        match Many::new(object, item)? {
            Some(many) => {
                same_number(name, many.rows().len(), messages)?;
                Ok(Self::Each(many))
            }
            None => Ok(Self::Same(object.extract()?)),
        }
    }

    /// Takes strings for all messages, or a list of them for each.
    fn strings(
        same: Option<&Bound<'_, PyList>>,
        each: Option<&Bound<'_, PyList>>,
        messages: usize,
    ) -> PyResult<Self> {
        let Some(each) = each else { return Ok(Self::SameStrings(aead::strings(same)?)) };
        if same.is_some() {
            return Err(PyValueError::new_err("associated_data and associated_data_each exclude each other"));
        }
        // Copied, because extracting an item can run Python code that changes the list.
        let each: Vec<Option<Bound<'_, PyList>>> = each.extract()?;
        same_number("associated_data_each", each.len(), messages)?;
        let each = each.iter().map(|strings| aead::strings(strings.as_ref()));
        Ok(Self::EachStrings(each.collect::<PyResult<_>>()?))
    }
}

/// The associated data of the messages, in a form that threads share.
enum Aads<'a> {
    Same(&'a [u8]),
    Each(Rows<'a>),
    SameStrings(Vec<&'a [u8]>),
    EachStrings(Vec<Vec<&'a [u8]>>),
}

impl<'a> Aads<'a> {
    fn new(associated: &'a Associated) -> Self {
        match associated {
            Associated::Same(bytes) => Self::Same(bytes),
            Associated::Each(many) => Self::Each(many.rows()),
            Associated::SameStrings(strings) => Self::SameStrings(aead::slices(strings)),
            Associated::EachStrings(each) => {
                Self::EachStrings(each.iter().map(|strings| aead::slices(strings)).collect())
            }
        }
    }

    #[inline]
    fn of(&self, row: usize) -> Aad<'_> {
        match self {
            Self::Same(bytes) => Aad::from(*bytes),
            Self::Each(rows) => Aad::from(rows.get(row)),
            Self::SameStrings(strings) => Aad::strings(strings),
            Self::EachStrings(each) => Aad::strings(&each[row]),
        }
    }
}

fn same_number(name: &str, got: usize, messages: usize) -> PyResult<()> {
    if got == messages {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{got} {name} for {messages} messages; expected one per message")))
}

/// Checks the lengths of nonces, and, if `unique`, that no nonce repeats.
///
/// # Errors
/// `ValueError` for the first nonce of an unsupported length, or the first two messages with the same nonce.
fn check_nonces(py: Python<'_>, rule: &NonceRule, nonces: Rows<'_>, unique: bool) -> PyResult<()> {
    (0..nonces.len()).try_for_each(|row| rule.check(nonces.get(row)))?;
    if !unique {
        return Ok(());
    }
    py.detach(|| {
        // Ascending nonces, such as counters, are unique and need no hash map.
        if (1..nonces.len()).all(|row| nonces.get(row - 1) < nonces.get(row)) {
            return Ok(());
        }
        let mut seen: HashMap<&[u8], usize> = HashMap::with_capacity(nonces.len());
        for row in 0..nonces.len() {
            match seen.entry(nonces.get(row)) {
                Entry::Vacant(entry) => entry.insert(row),
                Entry::Occupied(entry) => {
                    return Err(PyValueError::new_err(format!(
                        "messages {} and {row} have the same nonce; a nonce must never repeat under one key",
                        entry.get()
                    )));
                }
            };
        }
        Ok(())
    })
}

/// Returns the first rows of `rows` whose results have at least `bytes` bytes, or all rows, and the exact size of the
/// results.
fn portion(rows: Range<usize>, bytes: usize, length: impl Fn(usize) -> usize) -> (Range<usize>, usize) {
    let (mut end, mut total) = (rows.start, 0);
    while end < rows.end && (end == rows.start || total < bytes) {
        total += length(end);
        end += 1;
    }
    (rows.start..end, total)
}

/// The arguments of a call, except for its messages.
struct Call<'a> {
    aead: &'a Aead,
    nonces: Rows<'a>,
    aads: Aads<'a>,
    threads: NonZero<usize>,
}

/// The messages of a task, and the memory for their concatenated results.
struct Task<'a> {
    rows: Range<usize>,
    out: &'a mut [u8],
}

/// Why a call ends early.
enum Failure {
    /// The library refused a message of the batch that begins at this index.
    Misuse(usize, BatchError),
    Interrupted,
}

impl From<Interrupted> for Failure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl Call<'_> {
    /// Processes rows in parallel by calling `batch` with some rows and the memory for their results.
    ///
    /// # Errors
    /// `ValueError` for the first message that the library refuses.
    fn run(
        &self,
        py: Python<'_>,
        mut rows: Range<usize>,
        mut out: &mut [u8],
        length: impl Fn(usize) -> usize + Sync,
        batch: impl Fn(Range<usize>, &mut [u8]) -> Result<(), (usize, BatchError)> + Sync,
    ) -> PyResult<()> {
        let mut tasks = Vec::new();
        while !rows.is_empty() {
            let (own_rows, bytes) = portion(rows.clone(), TASK_BYTES, &length);
            let (own, rest) = mem::take(&mut out).split_at_mut(bytes);
            out = rest;
            rows.start = own_rows.end;
            tasks.push(Task { rows: own_rows, out: own });
        }
        let process = |Task { rows, mut out }: Task<'_>| {
            let mut start = rows.start;
            while start < rows.end {
                let end = (start + BATCH).min(rows.end);
                let (own, rest) = mem::take(&mut out).split_at_mut((start..end).map(&length).sum());
                out = rest;
                batch(start..end, own).map_err(|(start, error)| Failure::Misuse(start, error))?;
                start = end;
            }
            Ok(())
        };
        match threads::run(py, self.threads, |threads| threads.run(tasks, process))? {
            Ok(()) => Ok(()),
            Err(Failure::Misuse(start, error)) => {
                Err(PyValueError::new_err(format!("message {}: {}", start + error.index(), error.error())))
            }
            Err(Failure::Interrupted) => Err(PyKeyboardInterrupt::new_err(())),
        }
    }

    /// The sealed size in bytes of a message of `message` bytes.
    fn sealed_bytes(&self, message: usize) -> usize {
        message + self.aead.tag_bytes()
    }

    fn seal(&self, py: Python<'_>, data: Rows<'_>, rows: Range<usize>, out: &mut [u8]) -> PyResult<()> {
        let length = |row| self.sealed_bytes(data.get(row).len());
        self.run(py, rows, out, length, |rows, mut out| {
            let start = rows.start;
            let mut jobs = Vec::with_capacity(rows.len());
            for row in rows {
                let (own, rest) = mem::take(&mut out).split_at_mut(length(row));
                out = rest;
                let job = self.aead.seal_job(self.nonces.get(row), self.aads.of(row), data.get(row), own);
                jobs.push(job.map_err(|error| (row, BatchError::new(0, error)))?);
            }
            seal_jobs(&mut jobs).map_err(|error| (start, error))
        })
    }

    /// The opened size in bytes of a sealed message of `sealed` bytes.
    fn opened_bytes(&self, sealed: usize) -> usize {
        sealed.saturating_sub(self.aead.tag_bytes())
    }

    /// Opens rows, and appends the indices of forged messages to `forged` in ascending order.
    fn open(
        &self,
        py: Python<'_>,
        data: Rows<'_>,
        rows: Range<usize>,
        out: &mut [u8],
        forged: &mut Vec<usize>,
    ) -> PyResult<()> {
        let found = Mutex::new(Vec::new());
        let length = |row| self.opened_bytes(data.get(row).len());
        self.run(py, rows, out, length, |rows, mut out| {
            let start = rows.start;
            let mut bad = Vec::new();
            let (mut jobs, mut opening) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
            for row in rows {
                let (own, rest) = mem::take(&mut out).split_at_mut(length(row));
                out = rest;
                let sealed = data.get(row);
                if sealed.len() < self.aead.tag_bytes() {
                    bad.push(row);
                    continue;
                }
                let job = self.aead.open_job(self.nonces.get(row), self.aads.of(row), sealed, own);
                jobs.push(job.map_err(|error| (row, BatchError::new(0, error)))?);
                opening.push(row);
            }
            if open_jobs(&mut jobs).map_err(|error| (start, error))?.forged() > 0 {
                let forged = jobs.iter().zip(&opening).filter(|(job, _)| job.verdict() == Verdict::Forged);
                bad.extend(forged.map(|(_, row)| *row));
            }
            if !bad.is_empty() {
                found.lock().expect("nothing panics while recording messages").extend(bad);
            }
            Ok(())
        })?;
        let mut found = found.into_inner().expect("nothing panics while recording messages");
        found.sort_unstable();
        forged.append(&mut found);
        Ok(())
    }
}

/// The nonces of a call's messages.
pub(crate) enum Nonces<'a, 'py> {
    /// One per message, as the rule says.
    Each(&'a NonceRule, &'a Bound<'py, PyAny>),
    /// None, and the associated data of a message is its tweak.
    NoneButTweaks,
    /// None, and the associated data of a message is a list of strings: the same for all messages, or one of `each`.
    NoneButStrings { same: Option<&'a Bound<'py, PyList>>, each: Option<&'a Bound<'py, PyList>> },
}

/// The owned arguments that a call borrows from.
struct Arguments<'py> {
    nonces: Option<Many>,
    messages: Messages<'py>,
    associated: Associated,
    threads: NonZero<usize>,
}

impl<'py> Arguments<'py> {
    fn new(
        py: Python<'py>,
        nonces: Nonces<'_, 'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
        sealing: bool,
    ) -> PyResult<Self> {
        let threads = threads::count(threads)?;
        let messages = Messages::new(data)?;
        let number = messages.len();
        let (nonces, associated) = match nonces {
            Nonces::NoneButStrings { same, each } => (None, Associated::strings(same, each, number)?),
            Nonces::NoneButTweaks => (None, Associated::new("tweaks", associated_data, number)?),
            Nonces::Each(rule, nonces) => {
                let nonces = Many::nonces(rule, nonces, number)?;
                same_number(rule.name, nonces.rows().len(), number)?;
                check_nonces(py, rule, nonces.rows(), sealing && !rule.repeats)?;
                (Some(nonces), Associated::new("associated_data", associated_data, number)?)
            }
        };
        Ok(Self { nonces, messages, associated, threads })
    }

    fn call<'a>(&'a self, aead: &'a Aead) -> Call<'a> {
        let nonces = self.nonces.as_ref().map_or(Rows::Empty(self.messages.len()), Many::rows);
        Call { aead, nonces, aads: Aads::new(&self.associated), threads: self.threads }
    }

    /// Calls `work` for each round with the messages, the rows of the round, and the size of its results in bytes.
    fn rounds(
        &self,
        length: impl Fn(usize) -> usize,
        mut work: impl FnMut(Rows<'_>, Range<usize>, usize) -> PyResult<()>,
    ) -> PyResult<()> {
        let round = if self.threads.get() == 1 { TASK_BYTES } else { ROUND_BYTES };
        let mut copies = Vec::new();
        let mut left = 0..self.messages.len();
        while !left.is_empty() {
            let (rows, bytes) = portion(left.clone(), round, |row| length(self.messages.bytes_of(row)));
            left.start = rows.end;
            work(self.messages.load(&rows, &mut copies)?, rows, bytes)?;
        }
        Ok(())
    }

    /// Creates an array with a result of `width` bytes per row, and fills it in rounds by calling `work`.
    fn array(
        &self,
        py: Python<'py>,
        width: usize,
        mut work: impl FnMut(Rows<'_>, Range<usize>, &mut [u8]) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // No other thread has a reference to the array yet.
        let array = zeros(py, self.messages.len(), width)?;
        let mut bytes = array.readwrite();
        let mut rest = bytes.as_slice_mut()?;
        self.rounds(
            |_| width,
            |data, rows, bytes| {
                let (own, others) = mem::take(&mut rest).split_at_mut(bytes);
                rest = others;
                work(data, rows, own)
            },
        )?;
        drop(bytes);
        Ok(array.into_any())
    }

    /// The size of every message in bytes, if the messages are the rows of an array.
    fn width(&self) -> Option<usize> {
        match &self.messages {
            Messages::Array(array) => Some(array.width),
            Messages::List(_) => None,
        }
    }
}

/// Implements `encrypt_many`.
pub(crate) fn encrypt<'py>(
    py: Python<'py>,
    aead: &Aead,
    nonces: Nonces<'_, 'py>,
    data: &Bound<'py, PyAny>,
    associated_data: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = Arguments::new(py, nonces, data, associated_data, threads, true)?;
    let call = arguments.call(aead);
    if let Some(width) = arguments.width() {
        return arguments
            .array(py, call.sealed_bytes(width), |data, rows, out| call.seal(py, data, rows, out));
    }
    let mut sealed = Vec::with_capacity(arguments.messages.len());
    let mut out = Vec::new();
    arguments.rounds(
        |message| call.sealed_bytes(message),
        |data, rows, bytes| {
            out.resize(bytes, 0);
            call.seal(py, data, rows.clone(), &mut out)?;
            let mut rest = &out[..];
            for row in rows {
                let (own, others) = rest.split_at(call.sealed_bytes(data.get(row).len()));
                rest = others;
                sealed.push(PyBytes::new(py, own));
            }
            Ok(())
        },
    )?;
    Ok(PyList::new(py, sealed)?.into_any())
}

/// Implements `decrypt_many`.
pub(crate) fn decrypt<'py>(
    py: Python<'py>,
    aead: &Aead,
    nonces: Nonces<'_, 'py>,
    data: &Bound<'py, PyAny>,
    associated_data: Option<&Bound<'py, PyAny>>,
    forged: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let raise = match forged {
        "raise" => true,
        "none" => false,
        _ => return Err(PyValueError::new_err(format!("forged={forged:?}; use \"raise\" or \"none\""))),
    };
    let arguments = Arguments::new(py, nonces, data, associated_data, threads, false)?;
    let call = arguments.call(aead);
    let mut forged = Vec::new();
    if let (true, Some(width)) = (raise, arguments.width()) {
        let opened = arguments.array(py, call.opened_bytes(width), |data, rows, out| {
            call.open(py, data, rows, out, &mut forged)
        })?;
        return if forged.is_empty() { Ok(opened) } else { Err(forged_messages(forged)) };
    }
    let mut opened = Vec::with_capacity(arguments.messages.len());
    let mut out = Vec::new();
    arguments.rounds(
        |sealed| call.opened_bytes(sealed),
        |data, rows, bytes| {
            out.resize(bytes, 0);
            let known = forged.len();
            call.open(py, data, rows.clone(), &mut out, &mut forged)?;
            let mut bad = forged[known..].iter().peekable();
            let mut rest = &out[..];
            for row in rows {
                let (own, others) = rest.split_at(call.opened_bytes(data.get(row).len()));
                rest = others;
                opened.push(bad.next_if_eq(&&row).is_none().then(|| PyBytes::new(py, own)));
            }
            Ok(())
        },
    )?;
    if raise && !forged.is_empty() {
        Err(forged_messages(forged))
    } else {
        Ok(PyList::new(py, opened)?.into_any())
    }
}

fn forged_messages(forged: Vec<usize>) -> PyErr {
    ForgedMessages::new_err((forged,))
}
