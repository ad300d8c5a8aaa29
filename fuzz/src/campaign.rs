//! A fuzzing run of one target.

use crate::Target;
use crate::mutate::Mutator;
use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Seek, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of inputs to mutate, including those of the corpus.
const MAX_INPUTS: usize = 4000;

/// Interval between progress reports.
const PROGRESS: Duration = Duration::from_secs(60);

/// The result of a campaign.
#[derive(Debug)]
pub struct Report {
    target: &'static str,
    /// Number of calls of the target.
    pub executions: u64,
    time: Duration,
    /// Number of inputs that were mutated, including those of the corpus.
    inputs: usize,
    /// The file with the input on which the target panicked.
    pub crash: Option<PathBuf>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, executions, time, inputs, crash } = self;
        let per_second = u128::from(*executions) * 1000 / time.as_millis().max(1);
        write!(
            f,
            "{target}: {executions} executions, {per_second} per second, {inputs} inputs with distinct paths"
        )?;
        crash
            .as_ref()
            .map_or(Ok(()), |path| write!(f, "; FAILED; to reproduce, run ./dev fuzz {}", path.display()))
    }
}

/// Returns the input that was running when the process ended, from the contents of the file `last` in the folder of
/// artifacts. `None` if the file is incomplete.
pub fn last(contents: &[u8]) -> Option<&[u8]> {
    let (bytes, rest) = contents.split_first_chunk()?;
    rest.get(..u32::from_le_bytes(*bytes) as usize)
}

/// Runs a target on inputs, then on mutations of them. Inputs that take a new path are mutated too.
#[derive(Debug)]
pub struct Campaign<'a> {
    target: &'a Target,
    inputs: Vec<Vec<u8>>,
    seen: HashSet<u64>,
    mutator: Mutator,
    artifacts: &'a Path,
    /// A file with the running input, in case that it ends the process: its size in four bytes, little-endian, then
    /// its bytes.
    last: File,
    /// Buffer for the contents of `last`.
    buffer: Vec<u8>,
    executions: u64,
}

impl<'a> Campaign<'a> {
    /// Creates a campaign that starts with `inputs`. The running input and inputs that failed are written to the
    /// folder `artifacts`.
    ///
    /// # Errors
    /// If the folder cannot be written.
    ///
    /// # Panics
    /// If there are no inputs.
    pub fn new(target: &'a Target, inputs: Vec<Vec<u8>>, artifacts: &'a Path, seed: u64) -> io::Result<Self> {
        assert!(!inputs.is_empty(), "{}: no inputs", target.name);
        fs::create_dir_all(artifacts)?;
        let last = File::create(artifacts.join("last"))?;
        let mutator = Mutator::new(target, seed);
        Ok(Self {
            target,
            inputs,
            seen: HashSet::new(),
            mutator,
            artifacts,
            last,
            buffer: Vec::new(),
            executions: 0,
        })
    }

    /// Runs the target until the time has elapsed or the target panics.
    ///
    /// # Errors
    /// If the folder of artifacts cannot be written.
    pub fn run(mut self, time: Duration) -> io::Result<Report> {
        let start = Instant::now();
        let mut reported = start;
        for i in 0..self.inputs.len() {
            let input = self.inputs[i].clone();
            if self.execute(&input)?.is_none() {
                return Ok(self.report(start, Some(self.save(&input)?)));
            }
        }
        let mut input = Vec::new();
        while start.elapsed() < time {
            self.mutator.mutate(&self.inputs, &mut input);
            match self.execute(&input)? {
                Some(true) if self.inputs.len() < MAX_INPUTS => self.inputs.push(input.clone()),
                Some(_) => {}
                None => return Ok(self.report(start, Some(self.save(&input)?))),
            }
            if reported.elapsed() > PROGRESS {
                reported = Instant::now();
                println!("after {} s: {}", start.elapsed().as_secs(), self.report(start, None));
            }
        }
        Ok(self.report(start, None))
    }

    fn report(&self, start: Instant, crash: Option<PathBuf>) -> Report {
        Report {
            target: self.target.name,
            executions: self.executions,
            time: start.elapsed(),
            inputs: self.inputs.len(),
            crash,
        }
    }

    /// Runs the target on an input. Returns whether the input took a new path, or `None` if the target panicked.
    fn execute(&mut self, input: &[u8]) -> io::Result<Option<bool>> {
        self.write_last(input)?;
        self.executions += 1;
        let run = self.target.run;
        // Unwind-safe, because a target that panicked is not run again.
        let path = panic::catch_unwind(AssertUnwindSafe(|| run(input)));
        Ok(path.ok().map(|path| self.seen.insert(path)))
    }

    /// Overwrites the file `last` with an input. The file is not truncated, so bytes of longer inputs may follow.
    fn write_last(&mut self, input: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.extend((input.len() as u32).to_le_bytes());
        self.buffer.extend(input);
        self.last.rewind()?;
        self.last.write_all(&self.buffer)
    }

    /// Writes an input that failed to a file named by its hash.
    fn save(&self, input: &[u8]) -> io::Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        let path = self.artifacts.join(format!("crash-{:016x}", hasher.finish()));
        fs::write(&path, input)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Too long to be found by a single mutation.
    const MAGIC: &[u8] = b"\x7fcomb\xff\x80";

    /// Panics on inputs that begin with `MAGIC`. Otherwise returns the length of the common prefix.
    fn guarded(bytes: &[u8]) -> u64 {
        let found = bytes.iter().zip(MAGIC).take_while(|(byte, magic)| byte == magic).count();
        assert!(found < MAGIC.len(), "found");
        found as u64
    }

    const GUARDED: Target =
        Target { name: "guarded", run: guarded, max_bytes: 20, text: false, dictionary: &[] };

    fn campaign(inputs: Vec<Vec<u8>>, folder: &Path, time: Duration) -> Report {
        Campaign::new(&GUARDED, inputs, folder, 1).unwrap().run(time).unwrap()
    }

    #[test]
    fn an_input_is_found_step_by_step_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let report = campaign(vec![vec![0; 8]], folder.path(), Duration::from_secs(100));
        let kept = fs::read(report.crash.unwrap()).unwrap();
        assert!(kept.starts_with(MAGIC));
        assert_eq!(last(&fs::read(folder.path().join("last")).unwrap()), Some(&kept[..]));
        assert!(report.inputs > 3, "the input was found by a single mutation");
    }

    #[test]
    fn an_input_of_the_corpus_that_fails_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let report = campaign(vec![vec![0; 8], MAGIC.to_vec()], folder.path(), Duration::ZERO);
        assert_eq!((report.executions, fs::read(report.crash.unwrap()).unwrap()), (2, MAGIC.to_vec()));
    }

    #[test]
    fn a_target_without_mistakes_runs_until_its_time_is_up() {
        let folder = tempfile::tempdir().unwrap();
        let never = Target { run: |bytes| bytes.len() as u64, ..GUARDED };
        let campaign = Campaign::new(&never, vec![vec![]], folder.path(), 1).unwrap();
        let report = campaign.run(Duration::from_millis(200)).unwrap();
        assert!(report.crash.is_none() && report.executions > 1 && report.inputs > 1, "{report:?}");
    }
}
