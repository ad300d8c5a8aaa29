//! Runs of sectors, which must open to what was sealed.

use sealcomb::Key;
use sealcomb::hazmat::Sectors;

use crate::{Call, Case, Job, Memory, Role};

/// Size of a sector in bytes: not a multiple of a block, so that all sectors steal ciphertext.
const SECTOR: usize = 40;

impl Case {
    /// Seals a message as a run of sectors, without the end that is too short for a sector, and opens it. Does nothing
    /// if the algorithm has no sectors.
    pub(crate) fn in_sectors<M: Memory>(&self, memory: &mut M, key: &Key, job: &Job<M>) {
        let Ok(sectors) = Sectors::new(key, SECTOR) else { return };
        let message = match job.message.len() % SECTOR {
            bytes @ 1..16 => &job.message[..job.message.len() - bytes],
            _ => &job.message[..],
        };
        let mut data = memory.hold(Role::Message, message);
        memory
            .call(Call::SealBurst, || call!(Sectors::encrypt(&sectors, self.seed, &mut data)))
            .expect("a last sector of at least a block");
        let ciphertext = memory.publish(&mut data);
        let mut data = memory.hold(Role::Ciphertext, &ciphertext);
        memory
            .call(Call::OpenBurst, || call!(Sectors::decrypt(&sectors, self.seed, &mut data)))
            .expect("a last sector of at least a block");
        assert_eq!(memory.publish(&mut data), message, "{self:?}");
    }
}
