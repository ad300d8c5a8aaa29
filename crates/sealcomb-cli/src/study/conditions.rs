//! Date, software and load of a study.

use super::plan::{Effort, Plan};
use super::results::Conditions;
use crate::machine;
use std::time::SystemTime;

/// Returns the current conditions. Call this before the first measurement, because measuring adds to the load.
pub(crate) fn now(plan: &Plan) -> Conditions {
    Conditions {
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        version: env!("CARGO_PKG_VERSION"),
        commit: option_env!("SEALCOMB_COMMIT"),
        kernel: machine::kernel(),
        compiler: option_env!("SEALCOMB_COMPILER"),
        governor: machine::governor(),
        load: machine::load(),
        quick: plan.effort == Effort::Quick,
        samples: plan.samples,
        aad_bytes: 0,
        trace: plan.trace.clone(),
    }
}
