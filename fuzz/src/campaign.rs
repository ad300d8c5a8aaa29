//! One target with its inputs.

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

/// The most inputs that are kept in mind beside those of the corpus.
const KEPT: usize = 4000;

/// How often a long run says how far it is.
const PROGRESS: Duration = Duration::from_secs(60);

/// What a campaign gave.
#[derive(Debug)]
pub struct Report {
    target: &'static str,
    /// Calls of the target.
    pub executions: u64,
    time: Duration,
    /// Inputs that were mutated, those of the corpus included.
    inputs: usize,
    /// The input at which the target panicked.
    pub crash: Option<PathBuf>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, executions, time, inputs, crash } = self;
        let per_second = u128::from(*executions) * 1000 / time.as_millis().max(1);
        write!(
            f,
            "{target}: {executions} executions, {per_second} a second, {inputs} inputs of different kinds"
        )?;
        crash.as_ref().map_or(Ok(()), |path| {
            write!(f, "; FAILED at an input that was kept; once more: ./dev fuzz {}", path.display())
        })
    }
}

/// The input that was being run when the process ended, from the contents of `last` in the folder of artifacts.
pub fn last(contents: &[u8]) -> Option<&[u8]> {
    let (bytes, rest) = contents.split_first_chunk()?;
    rest.get(..u32::from_le_bytes(*bytes) as usize)
}

/// Runs a target with inputs as they are, and then with mutations of them. An input for which the target returns a new
/// number is mutated too.
#[derive(Debug)]
pub struct Campaign<'a> {
    target: &'a Target,
    inputs: Vec<Vec<u8>>,
    seen: HashSet<u64>,
    mutator: Mutator,
    artifacts: &'a Path,
    /// Holds the input that is being run, in case that it ends the process: the number of its bytes in four, and these.
    last: File,
    noted: Vec<u8>,
    executions: u64,
}

impl<'a> Campaign<'a> {
    /// Of these inputs. The folder of artifacts gets the input that is being run, and keeps what failed.
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
            noted: Vec::new(),
            executions: 0,
        })
    }

    /// Until the time is up or the target panics.
    ///
    /// # Errors
    /// If the folder of artifacts cannot be written.
    pub fn run(mut self, time: Duration) -> io::Result<Report> {
        let start = Instant::now();
        let mut told = start;
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
                Some(true) if self.inputs.len() < KEPT => self.inputs.push(input.clone()),
                Some(_) => {}
                None => return Ok(self.report(start, Some(self.save(&input)?))),
            }
            if told.elapsed() > PROGRESS {
                told = Instant::now();
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

    /// Whether the input went a new way; nothing if the target panicked.
    fn execute(&mut self, input: &[u8]) -> io::Result<Option<bool>> {
        self.note(input)?;
        self.executions += 1;
        let run = self.target.run;
        // A target that has panicked is not run again.
        let way = panic::catch_unwind(AssertUnwindSafe(|| run(input)));
        Ok(way.ok().map(|way| self.seen.insert(way)))
    }

    /// Writes the input down before it is run, over the one before, of which something may be left behind it.
    fn note(&mut self, input: &[u8]) -> io::Result<()> {
        self.noted.clear();
        self.noted.extend((input.len() as u32).to_le_bytes());
        self.noted.extend(input);
        self.last.rewind()?;
        self.last.write_all(&self.noted)
    }

    /// Keeps an input that failed, under a name of its own.
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

    /// Nobody guesses all of it at once.
    const MAGIC: &[u8] = b"\x7fcomb\xff\x80";

    /// Fails at one beginning of all, and tells how much of it there is.
    fn guarded(bytes: &[u8]) -> u64 {
        let found = bytes.iter().zip(MAGIC).take_while(|(byte, magic)| byte == magic).count();
        assert!(found < MAGIC.len(), "found");
        found as u64
    }

    const GUARDED: Target = Target { name: "guarded", run: guarded, longest: 20, text: false, words: &[] };

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
        assert!(report.inputs > 3, "of a single guess");
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
