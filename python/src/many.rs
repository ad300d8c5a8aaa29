//! Many messages in one call: `encrypt_many` and `decrypt_many`.

use std::mem;
use std::ops::Range;
use std::sync::Mutex;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use sealcomb::{Aad, BatchError, Verdict, open_batch, seal_batch};

use crate::arguments::Item;
use crate::envelope::BATCH;
use crate::errors::ForgedMessages;
use crate::pyca::{self, Aead, NonceRule};
use crate::work;

/// Bytes of results after which a task ends.
const TASK_BYTES: usize = 1 << 18;

/// Bytes of results in a list that are made before they become objects.
const ROUND_BYTES: usize = 1 << 22;

/// One bytes-like argument for each message.
enum Many<'py> {
    List(Vec<Item>),
    Array(PyReadonlyArray2<'py, u8>),
    /// A buffer that is divided evenly.
    Divided(Item, usize),
}

impl<'py> Many<'py> {
    fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if is_sequence(object) {
            return Ok(Self::List(items(object, |item| item.extract())?));
        }
        if let Some(array) = array(object)? {
            return Ok(Self::Array(array));
        }
        Err(PyTypeError::new_err(format!(
            "{name} is a list of bytes, or a numpy array of uint8 with a row for each message, not {}",
            object.get_type()
        )))
    }

    /// Nonces may also be one buffer with one after the other.
    fn nonces(object: &Bound<'py, PyAny>, messages: usize) -> PyResult<Self> {
        if is_sequence(object) || array(object)?.is_some() {
            return Self::new(object, "nonces");
        }
        let bytes: Item = object.extract()?;
        if messages == 0 || !bytes.len().is_multiple_of(messages) {
            return Err(PyValueError::new_err(format!(
                "nonces of {} bytes together can't be divided among {messages} messages",
                bytes.len()
            )));
        }
        let width = bytes.len() / messages;
        Ok(Self::Divided(bytes, width))
    }

    fn rows(&self) -> Rows<'_> {
        match self {
            Self::List(items) => Rows::List(items),
            Self::Array(array) => {
                let [rows, width] = [array.shape()[0], array.shape()[1]];
                Rows::Even { bytes: array.as_slice().expect("it was found contiguous"), width, rows }
            }
            Self::Divided(bytes, width) => {
                Rows::Even { bytes, width: *width, rows: bytes.len() / width.max(&1) }
            }
        }
    }
}

/// Whether it has its items one by one.
fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

fn items(
    sequence: &Bound<'_, PyAny>,
    take: impl Fn(&Bound<'_, PyAny>) -> PyResult<Item>,
) -> PyResult<Vec<Item>> {
    let mut items = Vec::with_capacity(sequence.len()?);
    for item in sequence.try_iter()? {
        items.push(take(&item?)?);
    }
    Ok(items)
}

/// The array, if it is one of numpy's.
fn array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<PyReadonlyArray2<'py, u8>>> {
    let module = object.get_type().module()?;
    if module != "numpy" {
        return Ok(None);
    }
    let array: PyReadonlyArray2<'py, u8> = object.extract().map_err(|_| {
        PyTypeError::new_err("an array must have two dimensions (a row for each message) and the type uint8")
    })?;
    if array.as_slice().is_err() {
        return Err(PyValueError::new_err(
            "the array is not contiguous; numpy.ascontiguousarray makes it so",
        ));
    }
    Ok(Some(array))
}

/// The same, in a form that threads share.
#[derive(Clone, Copy)]
enum Rows<'a> {
    List(&'a [Item]),
    Even { bytes: &'a [u8], width: usize, rows: usize },
    Empty(usize),
}

impl<'a> Rows<'a> {
    fn len(self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Even { rows, .. } | Self::Empty(rows) => rows,
        }
    }

    #[inline]
    fn get(self, row: usize) -> &'a [u8] {
        match self {
            Self::List(items) => &items[row],
            Self::Even { bytes, width, .. } => &bytes[row * width..][..width],
            Self::Empty(_) => &[],
        }
    }
}

/// The associated data of the messages.
enum Associated<'py> {
    /// The same for all, and always one string.
    Same(Item),
    Each(Many<'py>),
    /// SIV's: any number of strings, the same for all.
    SameStrings(Vec<Item>),
    EachStrings(Vec<Vec<Item>>),
}

impl<'py> Associated<'py> {
    fn new(object: Option<&Bound<'py, PyAny>>, messages: usize) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::Same(Item::Copied(Vec::new()))) };
        if is_sequence(object) {
            // None is the same as nothing.
            let items =
                items(
                    object,
                    |item| {
                        if item.is_none() { Ok(Item::Copied(Vec::new())) } else { item.extract() }
                    },
                )?;
            let items = Many::List(items);
            same_number("associated_data", items.rows().len(), messages)?;
            Ok(Self::Each(items))
        } else if array(object)?.is_some() {
            let rows = Many::new(object, "associated_data")?;
            same_number("associated_data", rows.rows().len(), messages)?;
            Ok(Self::Each(rows))
        } else {
            Ok(Self::Same(object.extract()?))
        }
    }

    fn strings(object: Option<&Bound<'py, PyAny>>, messages: usize) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::SameStrings(Vec::new())) };
        let list = object.cast::<PyList>()?;
        let lists = |item: &Bound<'_, PyAny>| item.is_none() || item.is_instance_of::<PyList>();
        if list.is_empty() || !list.iter().all(|item| lists(&item)) {
            return Ok(Self::SameStrings(pyca::strings(Some(list))?));
        }
        same_number("associated_data", list.len(), messages)?;
        // What is no list is `None`.
        let each = list.iter().map(|item| pyca::strings(item.cast().ok()));
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
    fn new(associated: &'a Associated<'_>) -> Self {
        match associated {
            Associated::Same(bytes) => Self::Same(bytes),
            Associated::Each(many) => Self::Each(many.rows()),
            Associated::SameStrings(strings) => Self::SameStrings(pyca::slices(strings)),
            Associated::EachStrings(each) => {
                Self::EachStrings(each.iter().map(|strings| pyca::slices(strings)).collect())
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
    Err(PyValueError::new_err(format!("{got} {name} for {messages} messages; give one for each")))
}

/// Refuses nonces that the class doesn't take, and, for sealing, those that come twice.
fn check_nonces(py: Python<'_>, rule: &NonceRule, nonces: Rows<'_>, unique: bool) -> PyResult<()> {
    (0..nonces.len()).try_for_each(|row| rule.check(nonces.get(row)))?;
    if !unique {
        return Ok(());
    }
    py.detach(|| {
        // Counters come in order, and need no memory to be told apart.
        if (1..nonces.len()).all(|row| nonces.get(row - 1) < nonces.get(row)) {
            return Ok(());
        }
        let mut seen: HashMap<&[u8], usize> = HashMap::with_capacity(nonces.len());
        for row in 0..nonces.len() {
            match seen.entry(nonces.get(row)) {
                Entry::Vacant(entry) => entry.insert(row),
                Entry::Occupied(entry) => {
                    return Err(PyValueError::new_err(format!(
                        "messages {} and {row} have the same nonce; under one key, no two may have",
                        entry.get()
                    )));
                }
            };
        }
        Ok(())
    })
}

/// What a call is about.
struct Call<'a> {
    aead: &'a Aead,
    nonces: Rows<'a>,
    data: Rows<'a>,
    aads: Aads<'a>,
    threads: usize,
}

/// Messages of a task, with the room for their results one after the other.
struct Task<'a> {
    rows: Range<usize>,
    out: &'a mut [u8],
}

impl Call<'_> {
    /// The rows from `start` on whose results take about so many bytes, at least one.
    fn portion(&self, start: usize, bytes: usize, length: impl Fn(usize) -> usize) -> (Range<usize>, usize) {
        let (mut end, mut total) = (start, 0);
        while end < self.data.len() && (end == start || total < bytes) {
            total += length(end);
            end += 1;
        }
        (start..end, total)
    }

    /// Has `batch` process some rows, with their results in `out`.
    fn run(
        &self,
        py: Python<'_>,
        rows: Range<usize>,
        mut out: &mut [u8],
        length: impl Fn(usize) -> usize + Sync,
        batch: impl Fn(Range<usize>, &mut [u8]) -> Result<(), (usize, BatchError)> + Sync,
    ) -> PyResult<()> {
        let mut tasks = Vec::new();
        let mut start = rows.start;
        while start < rows.end {
            let (mut portion, mut bytes) = self.portion(start, TASK_BYTES, &length);
            if portion.end > rows.end {
                portion.end = rows.end;
                bytes = portion.clone().map(&length).sum();
            }
            let (own, rest) = mem::take(&mut out).split_at_mut(bytes);
            out = rest;
            start = portion.end;
            tasks.push(Task { rows: portion, out: own });
        }
        let failure = work::run(py, self.threads, tasks, |Task { rows, mut out }| {
            let mut start = rows.start;
            while start < rows.end {
                let end = (start + BATCH).min(rows.end);
                let (own, rest) = mem::take(&mut out).split_at_mut((start..end).map(&length).sum());
                out = rest;
                batch(start..end, own)?;
                start = end;
            }
            Ok(())
        })?;
        match failure {
            None => Ok(()),
            Some((start, BatchError { index, error })) => {
                Err(PyValueError::new_err(format!("message {}: {error}", start + index)))
            }
        }
    }

    fn sealed_bytes(&self, row: usize) -> usize {
        self.data.get(row).len() + self.aead.tag_bytes()
    }

    fn seal(&self, py: Python<'_>, rows: Range<usize>, out: &mut [u8]) -> PyResult<()> {
        self.run(
            py,
            rows,
            out,
            |row| self.sealed_bytes(row),
            |rows, mut out| {
                let start = rows.start;
                let mut jobs = Vec::with_capacity(rows.len());
                for row in rows {
                    let (own, rest) = mem::take(&mut out).split_at_mut(self.sealed_bytes(row));
                    out = rest;
                    let job =
                        self.aead.seal_job(self.nonces.get(row), self.aads.of(row), self.data.get(row), own);
                    jobs.push(job.map_err(|error| (row, BatchError { index: 0, error }))?);
                }
                seal_batch(&mut jobs).map_err(|error| (start, error))
            },
        )
    }

    fn opened_bytes(&self, row: usize) -> usize {
        self.data.get(row).len().saturating_sub(self.aead.tag_bytes())
    }

    /// Opens rows, and notes those that are forged.
    fn open(
        &self,
        py: Python<'_>,
        rows: Range<usize>,
        out: &mut [u8],
        forged: &mut Vec<usize>,
    ) -> PyResult<()> {
        let found = Mutex::new(Vec::new());
        self.run(
            py,
            rows,
            out,
            |row| self.opened_bytes(row),
            |rows, mut out| {
                let start = rows.start;
                let mut bad = Vec::new();
                let (mut jobs, mut opening) =
                    (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
                for row in rows {
                    let (own, rest) = mem::take(&mut out).split_at_mut(self.opened_bytes(row));
                    out = rest;
                    let sealed = self.data.get(row);
                    if sealed.len() < self.aead.tag_bytes() {
                        bad.push(row);
                        continue;
                    }
                    let job = self.aead.open_job(self.nonces.get(row), self.aads.of(row), sealed, own);
                    jobs.push(job.map_err(|error| (row, BatchError { index: 0, error }))?);
                    opening.push(row);
                }
                if open_batch(&mut jobs).map_err(|error| (start, error))? > 0 {
                    let forged =
                        jobs.iter().zip(&opening).filter(|(job, _)| job.verdict() == Verdict::Forged);
                    bad.extend(forged.map(|(_, row)| *row));
                }
                if !bad.is_empty() {
                    found.lock().expect("nobody panics while noting messages").extend(bad);
                }
                Ok(())
            },
        )?;
        let mut found = found.into_inner().expect("nobody panics while noting messages");
        found.sort_unstable();
        forged.append(&mut found);
        Ok(())
    }
}

type Nonces<'a, 'py> = Option<(&'a NonceRule, &'a Bound<'py, PyAny>)>;

/// The arguments of a call, which keep what it borrows.
struct Arguments<'py> {
    nonces: Option<Many<'py>>,
    data: Many<'py>,
    associated: Associated<'py>,
    threads: usize,
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
        let threads = work::threads(threads)?;
        let data = Many::new(data, "data")?;
        let messages = data.rows().len();
        let Some((rule, nonces)) = nonces else {
            let associated = Associated::strings(associated_data, messages)?;
            return Ok(Self { nonces: None, data, associated, threads });
        };
        let nonces = Many::nonces(nonces, messages)?;
        same_number("nonces", nonces.rows().len(), messages)?;
        check_nonces(py, rule, nonces.rows(), sealing)?;
        let associated = Associated::new(associated_data, messages)?;
        Ok(Self { nonces: Some(nonces), data, associated, threads })
    }

    fn call<'a>(&'a self, aead: &'a Aead) -> Call<'a> {
        let data = self.data.rows();
        let nonces = self.nonces.as_ref().map_or(Rows::Empty(data.len()), Many::rows);
        Call { aead, nonces, data, aads: Aads::new(&self.associated), threads: self.threads }
    }

    /// Bytes of every message, if they are the rows of an array.
    fn width(&self) -> Option<usize> {
        match &self.data {
            Many::Array(array) => Some(array.shape()[1]),
            _ => None,
        }
    }
}

/// `encrypt_many`.
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
    let messages = call.data.len();
    if let Some(width) = arguments.width() {
        let width = width + aead.tag_bytes();
        let mut out = vec![0; messages * width];
        call.seal(py, 0..messages, &mut out)?;
        return array_of(py, out, messages, width);
    }
    let sealed = PyList::empty(py);
    let mut out = Vec::new();
    while sealed.len() < messages {
        let (rows, bytes) = call.portion(sealed.len(), ROUND_BYTES, |row| call.sealed_bytes(row));
        out.resize(bytes, 0);
        call.seal(py, rows.clone(), &mut out)?;
        let mut rest = &out[..];
        for row in rows {
            let (own, others) = rest.split_at(call.sealed_bytes(row));
            rest = others;
            sealed.append(PyBytes::new(py, own))?;
        }
    }
    Ok(sealed.into_any())
}

/// `decrypt_many`.
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
        _ => return Err(PyValueError::new_err(format!("forged={forged:?}; take \"raise\" or \"none\""))),
    };
    let arguments = Arguments::new(py, nonces, data, associated_data, threads, false)?;
    let call = arguments.call(aead);
    let messages = call.data.len();
    let mut forged = Vec::new();
    if let (true, Some(width)) = (raise, arguments.width()) {
        let width = width.saturating_sub(aead.tag_bytes());
        let mut out = vec![0; messages * width];
        call.open(py, 0..messages, &mut out, &mut forged)?;
        return if forged.is_empty() { array_of(py, out, messages, width) } else { Err(raised(forged)) };
    }
    let opened = PyList::empty(py);
    let mut out = Vec::new();
    while opened.len() < messages {
        let (rows, bytes) = call.portion(opened.len(), ROUND_BYTES, |row| call.opened_bytes(row));
        out.resize(bytes, 0);
        let known = forged.len();
        call.open(py, rows.clone(), &mut out, &mut forged)?;
        let mut bad = forged[known..].iter().peekable();
        let mut rest = &out[..];
        for row in rows {
            let (own, others) = rest.split_at(call.opened_bytes(row));
            rest = others;
            if bad.next_if_eq(&&row).is_some() {
                opened.append(py.None())?;
            } else {
                opened.append(PyBytes::new(py, own))?;
            }
        }
    }
    if raise && !forged.is_empty() { Err(raised(forged)) } else { Ok(opened.into_any()) }
}

fn raised(forged: Vec<usize>) -> PyErr {
    ForgedMessages::new_err((forged,))
}

/// An array of numpy's with a row for each message.
fn array_of(py: Python<'_>, bytes: Vec<u8>, rows: usize, width: usize) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyArray1::from_vec(py, bytes).reshape([rows, width])?.into_any())
}
