//! Counts the instructions of a call: a child process makes the call while this process traces it.

use std::io;
use std::process::Command;

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use sealcomb_timing::stepping::{Step, Tally, between_stops, trace};

use crate::cell::{Case, batches_of, keys_of_batch, others};
use crate::ours::Ours;

/// A number of instructions.
#[derive(Default)]
struct Count(u64);

impl Tally for Count {
    fn add(&mut self, code: &[u8]) -> Option<Step> {
        let instruction = Decoder::new(64, code, DecoderOptions::NONE).decode();
        self.0 += 1;
        (!instruction.is_invalid()).then(|| Step {
            bytes: instruction.len(),
            // An instruction with a repeat prefix may execute again.
            may_branch: instruction.flow_control() != FlowControl::Next
                || instruction.has_rep_prefix()
                || instruction.has_repne_prefix(),
        })
    }

    fn add_all(&mut self, other: &Self) {
        self.0 += other.0;
    }
}

/// Returns the instructions per message of one batch: of this commit, or of the earlier one. `None` if the call cannot
/// be traced.
pub(crate) fn instructions(case: &Case, earlier: bool) -> Option<f64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.args(["--bench", "--count", if earlier { "earlier" } else { "ours" }]);
    command.args(["--backends", case.backend.name(), "--algorithms", case.algorithm.id()]);
    command.args(["--directions", &case.direction.to_string(), "--layouts", &case.layout.to_string()]);
    command.args(["--keys", &case.keys.to_string(), "--lengths", &case.lengths.to_string()]);
    command.args(["--batches", &case.batch.to_string()]);
    trace::<Count>(&mut command).map(|count| count.0 as f64 / case.batch as f64)
}

/// The child process: processes one batch as a warm-up, and again between two stops.
pub(crate) fn run(case: &Case, earlier: bool) -> io::Result<()> {
    let keys = keys_of_batch(case);
    let ours = Ours::new(case.backend.name(), case.algorithm.id(), &keys);
    let batches = batches_of(case, &ours, 1);
    let mut buffers = batches.buffers();
    let mut others = others(case.backend, case.algorithm, &keys);
    let library = if earlier { others.swap_remove(0).1 } else { Box::new(ours) };
    library.process(case.direction, &batches, &mut buffers);
    between_stops(&mut || library.process(case.direction, &batches, &mut buffers))
}
