//! Streams: after any sequence of calls, output and tag are the model's, and a mistake changes nothing.

use super::Choices;
use sealcomb::hazmat;
use sealcomb::hazmat::{OpenStream, SealStream};
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Backend, Cipher, Error, Key, KeyOptions, Kind, OpenError, reference};
use std::sync::Arc;

/// The identifiers of the modes that have streams.
const MODES: [&str; 6] = ["gcm", "gmac", "cmac", "ocb3-t64", "ocb3-t96", "ocb3-t128"];

/// Sizes in bytes of pieces: around blocks, around additional data that a stream keeps, and around the parts of a long
/// piece.
const BORDERS: [usize; 12] = [0, 1, 15, 16, 17, 32, 48, 63, 64, 65, 2048, 8192];

/// Maximum number of calls.
const MAX_CALLS: usize = 24;

/// A stream, and what it was given since its message began.
struct Run {
    algorithm: Algorithm,
    key: Vec<u8>,
    expanded: Arc<Key>,
    tag_bytes: usize,
    stream: Stream,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Size in bytes of the last piece of the message that was not empty.
    last_piece: usize,
    ended: bool,
}

/// A stream of either type.
#[derive(Debug)]
enum Stream {
    Seal(SealStream<Arc<Key>>),
    Open(OpenStream<Arc<Key>>),
}

/// Calls the function of the stream's type. The second name is that of an opening stream's.
macro_rules! on {
    ($stream:expr, $name:ident($($argument:expr),*)) => { on!($stream, $name | $name($($argument),*)) };
    ($stream:expr, $seal:ident | $open:ident($($argument:expr),*)) => {
        match $stream {
            Stream::Seal(stream) => stream.$seal($($argument),*),
            Stream::Open(stream) => stream.$open($($argument),*),
        }
    };
}

impl Stream {
    fn new(key: &Arc<Key>, seals: bool, nonce: &[u8], tag_bytes: usize) -> Self {
        let key = Arc::clone(key);
        if seals {
            let stream = SealStream::with_tag_bytes(key, nonce, tag_bytes);
            Self::Seal(stream.expect("sizes that the algorithm takes"))
        } else {
            let stream = OpenStream::with_tag_bytes(key, nonce, tag_bytes);
            Self::Open(stream.expect("sizes that the algorithm takes"))
        }
    }

    fn seals(&self) -> bool {
        matches!(self, Self::Seal(_))
    }

    fn fork(&self) -> Self {
        match self {
            Self::Seal(stream) => Self::Seal(stream.fork()),
            Self::Open(stream) => Self::Open(stream.fork()),
        }
    }
}

/// Calls the functions of a stream in an order derived from `bytes`.
///
/// # Panics
/// If a result is not that of the model, or a mistake does not lead to its error.
pub fn run(bytes: &[u8]) -> u64 {
    let mut choices = Choices::new(bytes);
    let mut run = Run::new(&mut choices);
    let (mut path, mut before) = (0_u64, 0);
    for _ in 0..choices.below(MAX_CALLS) {
        let call = choices.below(8);
        run.call(call, &mut choices);
        path |= 1 << (8 * before + call);
        before = call;
    }
    run.end(&mut choices);
    sealcomb_cli::fuzz::outcome((run.algorithm.id(), path))
}

impl Run {
    fn new(choices: &mut Choices<'_>) -> Self {
        let has_streams = |a: &Algorithm| a.cipher() == Cipher::Aes && MODES.contains(&a.mode_id());
        let algorithms: Vec<Algorithm> = ALGORITHMS.iter().copied().filter(has_streams).collect();
        let backends: Vec<Backend> = Backend::available().collect();
        let algorithm = choices.pick(&algorithms);
        let backend = choices.pick(&backends);
        let tag_bytes = if choices.below(2) == 0 {
            algorithm.tag_bytes()
        } else {
            choices.pick(hazmat::tag_sizes(algorithm))
        };
        let (seals, nonce) = beginning(algorithm, choices);
        let key = choices.fill(algorithm.key_bytes());
        let expanded = KeyOptions::new()
            .backend(backend)
            .any_nonce_bytes()
            .expand(algorithm, &key)
            .expect("a key of the right length");
        let expanded = Arc::new(expanded);
        let stream = Stream::new(&expanded, seals, &nonce, tag_bytes);
        Self {
            algorithm,
            key,
            expanded,
            tag_bytes,
            stream,
            nonce,
            aad: Vec::new(),
            input: Vec::new(),
            output: Vec::new(),
            last_piece: 0,
            ended: false,
        }
    }

    /// Calls the function with this number.
    fn call(&mut self, call: usize, choices: &mut Choices<'_>) {
        match call {
            0 | 1 => self.aad(choices),
            2..=4 => self.update(choices),
            5 => self.end(choices),
            6 => self.begin(choices),
            _ => self.stream = self.stream.fork(),
        }
    }

    fn begin(&mut self, choices: &mut Choices<'_>) {
        self.tag();
        let (seals, nonce) = beginning(self.algorithm, choices);
        if seals == self.stream.seals() {
            on!(&mut self.stream, begin(&nonce)).expect("a nonce that the algorithm takes");
        } else {
            self.stream = Stream::new(&self.expanded, seals, &nonce, self.tag_bytes);
        }
        self.nonce = nonce;
        self.aad.clear();
        self.input.clear();
        self.output.clear();
        (self.last_piece, self.ended) = (0, false);
    }

    fn aad(&mut self, choices: &mut Choices<'_>) {
        let bytes = size(choices);
        let piece = choices.fill(bytes);
        let expected = if self.ended {
            Err(Error::MessageEnded)
        } else if self.algorithm.mode_id() == "gcm" && !self.input.is_empty() {
            Err(Error::AadAfterMessage)
        } else {
            Ok(())
        };
        assert_eq!(on!(&mut self.stream, aad(&piece)), expected, "{}", self.state());
        if expected.is_ok() {
            self.aad.extend(piece);
        }
    }

    fn update(&mut self, choices: &mut Choices<'_>) {
        let is_ocb = self.algorithm.mode_id().starts_with("ocb3");
        let mut bytes = size(choices);
        if is_ocb && choices.below(4) > 0 {
            bytes = bytes / 16 * 16;
        }
        let input = choices.fill(bytes);
        let expected = if self.ended {
            Err(Error::MessageEnded)
        } else if bytes == 0 {
            Ok(())
        } else if self.algorithm.kind() == Kind::Mac {
            Err(Error::TakesNoMessage)
        } else if is_ocb && !self.last_piece.is_multiple_of(16) {
            Err(Error::NotWholeBlocks { got: self.last_piece })
        } else {
            Ok(())
        };
        let in_place = choices.below(2) == 0;
        // A separate output is longer than the result.
        let before = if in_place { input.clone() } else { vec![0x5a; bytes + 3] };
        let mut output = before.clone();
        let result = if in_place {
            on!(&mut self.stream, update | update_unverified(&mut output))
        } else {
            on!(&mut self.stream, update_to | update_unverified_to(&input, &mut output))
        };
        assert_eq!(result, expected, "{}", self.state());
        let written = if expected.is_ok() { bytes } else { 0 };
        assert!(output[written..] == before[written..], "written beyond the result: {}", self.state());
        if expected.is_ok() && bytes > 0 {
            self.input.extend(&input);
            self.output.extend(&output[..bytes]);
            self.last_piece = bytes;
        }
    }

    /// Ends the message, with its tag or with a mistake.
    fn end(&mut self, choices: &mut Choices<'_>) {
        let tag = self.tag();
        let bytes = choices.pick(&[tag.len(), tag.len(), tag.len(), tag.len() - 1, tag.len() + 1]);
        let (verifies, flips) = (choices.below(2) == 0, choices.below(2) == 0);
        let verifies = verifies && !self.stream.seals();
        let result = if let (Stream::Open(stream), true) = (&mut self.stream, verifies) {
            let mut received = tag.clone();
            received[0] ^= u8::from(flips);
            received.resize(bytes, 0);
            stream.verify(&received)
        } else {
            let mut made = vec![0x5a; bytes];
            let result = on!(&mut self.stream, finish | finish_unverified(&mut made));
            let expected = if result.is_ok() { tag.clone() } else { vec![0x5a; bytes] };
            assert_eq!(made, expected, "{}", self.state());
            result.map_err(OpenError::Misuse)
        };
        let is_right = match result {
            Err(OpenError::Misuse(Error::MessageEnded)) => self.ended,
            Err(OpenError::Misuse(Error::TagLength { got, .. })) => {
                !self.ended && got == bytes && bytes != tag.len()
            }
            Err(OpenError::Misuse(_)) => false,
            Err(OpenError::Forged) => !self.ended && bytes == tag.len() && verifies && flips,
            Ok(()) => !self.ended && bytes == tag.len() && !(verifies && flips),
        };
        assert!(is_right, "a tag of {bytes} bytes: {result:?}: {}", self.state());
        self.ended |= matches!(result, Ok(()) | Err(OpenError::Forged));
    }

    /// Returns the model's tag of what the stream was given, and checks its output.
    fn tag(&self) -> Vec<u8> {
        let (message, ciphertext) =
            if self.stream.seals() { (&self.input, &self.output) } else { (&self.output, &self.input) };
        let (id, tag_bytes) = (self.algorithm.id(), on!(&self.stream, tag_bytes()));
        let sealed = reference::seal(id, &self.key, &self.nonce, &self.aad, message, tag_bytes);
        let (expected, tag) = sealed.expect("the model takes what the catalog allows");
        assert!(*ciphertext == expected, "the output differs from the model's: {}", self.state());
        tag
    }

    /// Returns what is needed to reproduce a failure.
    fn state(&self) -> String {
        format!(
            "{:?}, tags of {} bytes, nonce {:02x?}, {} bytes of additional data, {} of the message, ended: {}",
            self.stream,
            self.tag_bytes,
            self.nonce,
            self.aad.len(),
            self.input.len(),
            self.ended
        )
    }
}

/// Draws whether a message is sealed, and its nonce.
fn beginning(algorithm: Algorithm, choices: &mut Choices<'_>) -> (bool, Vec<u8>) {
    let seals = choices.below(2) == 0;
    let bytes = match choices.below(4) {
        0 => algorithm.min_nonce_bytes(),
        1 => algorithm.max_nonce_bytes().min(40),
        _ => algorithm.nonce_bytes(),
    };
    (seals, choices.fill(bytes))
}

/// Draws the size of a piece in bytes.
fn size(choices: &mut Choices<'_>) -> usize {
    match choices.below(4) {
        0 | 1 => choices.below(40),
        2 => choices.pick(&BORDERS),
        _ => choices.pick(&BORDERS) + choices.below(20),
    }
}
