//! Simulation of packets through a top.

use crate::packet::{Beat, Expected, Packet, ones};
use crate::{Model, Port};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use std::collections::VecDeque;

/// Number of clocks without any transfer after which a run has failed.
const STUCK: u64 = 5000;
/// Number of clocks with ready outputs, after the last packet, in which nothing may be output.
const QUIET: u64 = 200;

/// A step of a run.
#[derive(Clone, Debug)]
pub enum Action {
    /// Loads a key into a slot. The bench waits until no packet of this slot is in the core, and later packets wait
    /// until the core has accepted the key.
    Load {
        /// The slot.
        slot: u8,
        /// The value of `s_key_key`.
        key: Vec<u8>,
    },
    /// Sends a packet.
    Send(Packet),
}

/// Pauses of each stream: the probability of a pause in a clock, from 0 (never) to below 1.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// `s_key`.
    pub key: f64,
    /// `s_cmd`.
    pub command: f64,
    /// `s_axis` and `s_tag`.
    pub stream: f64,
    /// `m_axis`, by `tready`.
    pub output: f64,
    /// `m_tag`, by `tready`.
    pub tag: f64,
    /// The probability in a clock that a core that refuses keys for slots in use is offered such a key, from 0 to 1.
    pub refused_key: f64,
}

impl Flow {
    /// No pauses.
    pub const FULL: Self =
        Self { key: 0.0, command: 0.0, stream: 0.0, output: 0.0, tag: 0.0, refused_key: 0.0 };
    /// Slow senders, ready receivers.
    pub const STARVED: Self = Self { key: 0.5, command: 0.3, stream: 0.4, refused_key: 0.1, ..Self::FULL };
    /// Ready senders, slow receivers.
    pub const CONGESTED: Self = Self { output: 0.4, tag: 0.3, refused_key: 0.1, ..Self::FULL };
    /// Pauses everywhere.
    pub const ROUGH: Self =
        Self { key: 0.3, command: 0.2, stream: 0.2, output: 0.2, tag: 0.2, refused_key: 0.05 };
    /// All flows above.
    pub const ALL: [Self; 4] = [Self::FULL, Self::STARVED, Self::CONGESTED, Self::ROUGH];
}

/// The clocks of a packet's transfers, as numbers of rising edges since the reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The command.
    pub command: u64,
    /// The first beat on `s_axis`, if any.
    pub first_in: Option<u64>,
    /// The last beat on `s_axis`, if any.
    pub last_in: Option<u64>,
    /// The first beat on `m_axis`, if any.
    pub first_out: Option<u64>,
    /// The last beat on `m_axis`, if any.
    pub last_out: Option<u64>,
    /// The beat on `m_tag`.
    pub tag: u64,
}

/// A top and its streams.
pub struct Bench {
    model: Model,
    random: StdRng,
    width: usize,
    key: Stream,
    key_slot: Port,
    key_key: Port,
    command: Stream,
    command_open: Port,
    command_slot: Port,
    command_nonce: Port,
    command_ad: Port,
    command_message: Port,
    command_padded: Port,
    input: Stream,
    input_data: Port,
    input_keep: Port,
    input_last: Port,
    input_user: Port,
    received: Option<(Stream, Port)>,
    refusals: Option<Refusals>,
    output: Stream,
    output_data: Port,
    output_keep: Port,
    output_last: Port,
    output_user: Port,
    tag: Stream,
    tag_data: Port,
    tag_user: Port,
}

/// The handshake ports of a stream.
#[derive(Clone, Copy)]
struct Stream {
    name: &'static str,
    valid: Port,
    ready: Port,
}

impl Stream {
    fn of(model: &Model, name: &'static str) -> Self {
        let [valid, ready] = ["tvalid", "tready"].map(|port| model.port(&format!("{name}_{port}")));
        Self { name, valid, ready }
    }

    fn transfers(self, model: &Model) -> bool {
        model.is_high(self.valid) && model.is_high(self.ready)
    }
}

/// The ports of a core that refuses keys for slots in use, and the number that the counter must have.
#[derive(Clone, Copy)]
struct Refusals {
    refused: Port,
    counter: Port,
    count: u64,
}

/// Random pauses of a stream, mostly of one clock, sometimes long.
struct Gate {
    pause: f64,
    closed: u32,
}

impl Gate {
    fn new(pause: f64) -> Self {
        Self { pause, closed: 0 }
    }

    fn is_open(&mut self, random: &mut StdRng) -> bool {
        if self.closed > 0 {
            self.closed -= 1;
            return false;
        }
        if self.pause == 0.0 || !random.random_bool(self.pause) {
            return true;
        }
        if random.random_bool(0.02) {
            self.closed = random.random_range(1..150);
        }
        false
    }
}

/// The sending side of an input stream of the core.
struct Sender {
    stream: Stream,
    gate: Gate,
    offered: bool,
}

impl Sender {
    fn new(stream: Stream, pause: f64) -> Self {
        Self { stream, gate: Gate::new(pause), offered: false }
    }

    /// Whether the next transfer starts to be offered in this clock. It then stays on the stream until it is taken.
    fn starts(&mut self, model: &mut Model, allowed: bool, random: &mut StdRng) -> bool {
        if self.offered {
            return false;
        }
        self.offered = allowed && self.gate.is_open(random);
        model.set(self.stream.valid, u64::from(self.offered));
        self.offered
    }

    fn taken(&mut self, model: &Model) -> bool {
        let taken = self.stream.transfers(model);
        self.offered &= !taken;
        taken
    }
}

/// The receiving side of an output stream of the core. An offered transfer must not change until it is taken.
struct Receiver {
    stream: Stream,
    gate: Gate,
    held: Option<Vec<u8>>,
}

impl Receiver {
    fn new(stream: Stream, pause: f64) -> Self {
        Self { stream, gate: Gate::new(pause), held: None }
    }

    fn taken(&mut self, model: &Model, payload: &[Port]) -> bool {
        let valid = model.is_high(self.stream.valid);
        let now = valid.then(|| payload.iter().flat_map(|&port| model.bytes(port)).copied().collect());
        if let Some(held) = self.held.take() {
            assert_eq!(
                Some(held),
                now,
                "{} changed before it was taken, at clock {}",
                self.stream.name,
                model.clock()
            );
        }
        let taken = self.stream.transfers(model);
        if !taken {
            self.held = now;
        }
        taken
    }
}

/// A packet on `m_axis`.
#[derive(Debug, Default)]
struct Output {
    bytes: Vec<u8>,
    bad: bool,
    first: u64,
    last: u64,
}

/// A beat on `m_tag`.
#[derive(Debug)]
struct Verdict {
    tag: Vec<u8>,
    user: u64,
    clock: u64,
}

/// The transfers of a run, in the order of each stream.
struct Plan {
    /// Slot, key, and the number of packets that must be complete before the key is offered.
    keys: Vec<(u8, Vec<u8>, usize)>,
    /// Packet, and the number of keys that must be loaded before its command.
    packets: Vec<(Packet, usize)>,
    /// Number of the packet, and a beat of it.
    beats: Vec<(usize, Beat)>,
    /// Tags for `s_tag`.
    received: Vec<[u8; 16]>,
}

impl Plan {
    fn of(actions: Vec<Action>, width: usize, random: &mut StdRng) -> Self {
        let mut plan =
            Self { keys: Vec::new(), packets: Vec::new(), beats: Vec::new(), received: Vec::new() };
        let mut used = [0; 256];
        for action in actions {
            match action {
                Action::Load { slot, key } => plan.keys.push((slot, key, used[usize::from(slot)])),
                Action::Send(packet) => {
                    let number = plan.packets.len();
                    used[usize::from(packet.slot)] = number + 1;
                    plan.beats.extend(packet.beats(width, random).into_iter().map(|beat| (number, beat)));
                    plan.received.extend(packet.tag.filter(|_| packet.tag_beside));
                    plan.packets.push((packet, plan.keys.len()));
                }
            }
        }
        plan
    }
}

impl Bench {
    /// Creates and resets a top, by its name in the lists. The seed determines the pauses, and the values of
    /// registers before the reset.
    ///
    /// # Panics
    /// If the build does not have the top, or the top lacks a port of the interface in `rtl/README.md`.
    pub fn new(top: &str, seed: u64) -> Self {
        let mut model = Model::new(top, seed as u32);
        for name in ["s_key", "s_cmd", "s_axis"] {
            let stream = Stream::of(&model, name);
            model.set(stream.valid, 0);
        }
        let received =
            model.has("s_tag_tvalid").then(|| (Stream::of(&model, "s_tag"), model.port("s_tag_tdata")));
        if let Some((stream, _)) = received {
            model.set(stream.valid, 0);
        }
        let port = |name: &str| model.port(name);
        let refusals = model.has("s_key_refused").then(|| Refusals {
            refused: port("s_key_refused"),
            counter: port("s_key_refusals"),
            count: 0,
        });
        let input_data = port("s_axis_tdata");
        Self {
            random: StdRng::seed_from_u64(seed),
            width: input_data.bits() / 8,
            key: Stream::of(&model, "s_key"),
            key_slot: port("s_key_slot"),
            key_key: port("s_key_key"),
            command: Stream::of(&model, "s_cmd"),
            command_open: port("s_cmd_open"),
            command_slot: port("s_cmd_slot"),
            command_nonce: port("s_cmd_nonce"),
            command_ad: port("s_cmd_ad_bytes"),
            command_message: port("s_cmd_message_bytes"),
            command_padded: port("s_cmd_padded"),
            input: Stream::of(&model, "s_axis"),
            input_data,
            input_keep: port("s_axis_tkeep"),
            input_last: port("s_axis_tlast"),
            input_user: port("s_axis_tuser"),
            received,
            refusals,
            output: Stream::of(&model, "m_axis"),
            output_data: port("m_axis_tdata"),
            output_keep: port("m_axis_tkeep"),
            output_last: port("m_axis_tlast"),
            output_user: port("m_axis_tuser"),
            tag: Stream::of(&model, "m_tag"),
            tag_data: port("m_tag_tdata"),
            tag_user: port("m_tag_tuser"),
            model,
        }
    }

    /// Returns the number of bytes of a beat.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the model, for access to other ports.
    pub fn model(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Sends all keys and packets through the top, back to back as far as the flow allows, and checks the output, tag
    /// and verdict of each packet, and that there is no other output. Returns the clocks of each packet's transfers.
    ///
    /// # Panics
    /// If a result differs from the expected one, or there are no transfers for too long.
    pub fn run(&mut self, actions: Vec<Action>, flow: Flow) -> Vec<Outcome> {
        let plan = Plan::of(actions, self.width, &mut self.random);
        let mut run = Run::new(self, flow, &plan);
        run.simulate();
        run.check()
    }
}

/// The state of a run.
struct Run<'a> {
    bench: &'a mut Bench,
    plan: &'a Plan,
    keys: Sender,
    commands: Sender,
    input: Sender,
    received: Option<Sender>,
    /// The probability in a clock that a key is offered for a slot in use.
    refused_key: f64,
    /// The clock in which the last key for a slot in use must be refused.
    refused_at: Option<u64>,
    output: Receiver,
    tags: Receiver,
    keys_done: usize,
    commands_done: Vec<u64>,
    beats_done: usize,
    received_done: usize,
    first_in: Vec<Option<u64>>,
    last_in: Vec<Option<u64>>,
    current: Option<Output>,
    outputs: VecDeque<Output>,
    verdicts: Vec<Verdict>,
}

impl<'a> Run<'a> {
    fn new(bench: &'a mut Bench, flow: Flow, plan: &'a Plan) -> Self {
        let packets = plan.packets.len();
        if let Some(refusals) = &mut bench.refusals {
            refusals.count = bench.model.get(refusals.counter);
        }
        Self {
            keys: Sender::new(bench.key, flow.key),
            commands: Sender::new(bench.command, flow.command),
            input: Sender::new(bench.input, flow.stream),
            received: bench.received.map(|(stream, _)| Sender::new(stream, flow.stream)),
            refused_key: if bench.refusals.is_some() { flow.refused_key } else { 0.0 },
            refused_at: None,
            output: Receiver::new(bench.output, flow.output),
            tags: Receiver::new(bench.tag, flow.tag),
            keys_done: 0,
            commands_done: Vec::with_capacity(packets),
            beats_done: 0,
            received_done: 0,
            first_in: vec![None; packets],
            last_in: vec![None; packets],
            current: None,
            outputs: VecDeque::new(),
            verdicts: Vec::with_capacity(packets),
            bench,
            plan,
        }
    }

    fn simulate(&mut self) {
        let (mut still, mut quiet) = (0, 0);
        loop {
            let moved = self.clock();
            still = if moved { 0 } else { still + 1 };
            // An output that is not ready may hold back the rest of a packet.
            let ready = [self.output.stream.ready, self.tags.stream.ready];
            let ready = ready.into_iter().all(|port| self.bench.model.is_high(port));
            quiet = if moved { 0 } else { quiet + u64::from(ready) };
            let done = self.keys_done == self.plan.keys.len()
                && self.verdicts.len() >= self.plan.packets.len()
                && self.beats_done == self.plan.beats.len()
                && self.received_done == self.plan.received.len();
            if done && quiet >= QUIET {
                return;
            }
            assert!(
                still < STUCK,
                "no transfer for {STUCK} clocks at clock {}: {} of {} keys, {} commands and {} verdicts of {} \
                 packets, {} of {} beats (the next of packet {:?}), {} packets output",
                self.bench.model.clock(),
                self.keys_done,
                self.plan.keys.len(),
                self.commands_done.len(),
                self.verdicts.len(),
                self.plan.packets.len(),
                self.beats_done,
                self.plan.beats.len(),
                self.plan.beats.get(self.beats_done).map(|beat| beat.0),
                self.outputs.len(),
            );
        }
    }

    /// Simulates one clock. Returns whether there was a transfer.
    fn clock(&mut self) -> bool {
        let intrudes = self.offer_key_in_use();
        if !intrudes {
            self.offer_key();
        }
        self.offer_command();
        self.offer_beat();
        self.offer_received();
        let Bench { model, random, .. } = &mut *self.bench;
        model.set(self.output.stream.ready, self.output.gate.is_open(random).into());
        model.set(self.tags.stream.ready, self.tags.gate.is_open(random).into());
        model.settle();

        let now = model.clock();
        let mut moved = false;
        if self.keys.taken(model) && !intrudes {
            self.keys_done += 1;
            moved = true;
        }
        if self.commands.taken(model) {
            self.commands_done.push(now);
            moved = true;
        }
        if self.input.taken(model) {
            let packet = self.plan.beats[self.beats_done].0;
            self.first_in[packet].get_or_insert(now);
            self.last_in[packet] = Some(now);
            self.beats_done += 1;
            moved = true;
        }
        if self.received.as_mut().is_some_and(|received| received.taken(model)) {
            self.received_done += 1;
            moved = true;
        }
        moved |= self.receive();
        self.check_refusal();
        self.bench.model.tick();
        if intrudes {
            self.bench.model.set(self.keys.stream.valid, 0);
        }
        moved
    }

    /// Offers another key for the slot of a packet whose beats are not all sent, and returns whether it does. The core
    /// takes it in this clock and must refuse it two clocks later.
    fn offer_key_in_use(&mut self) -> bool {
        let Some(slot) = self.slot_in_use() else { return false };
        let Bench { model, random, key_slot, key_key, .. } = &mut *self.bench;
        // The port is ready, whatever is offered, if no other key is being loaded.
        let free = !self.keys.offered && model.is_high(self.keys.stream.ready);
        if !free || self.refused_key == 0.0 || !random.random_bool(self.refused_key) {
            return false;
        }
        let mut key = vec![0; key_key.bits() / 8];
        random.fill_bytes(&mut key);
        model.set(*key_slot, slot.into());
        model.set_bytes(*key_key, &key);
        model.set(self.keys.stream.valid, 1);
        self.refused_at = Some(model.clock() + 2);
        true
    }

    /// Returns the slot of the packet whose next beat is to be sent, if its command was accepted. A packet in error is
    /// excluded: the core may have finished it before its last beat.
    fn slot_in_use(&self) -> Option<u8> {
        let (number, _) = self.plan.beats.get(self.beats_done)?;
        let (packet, _) = &self.plan.packets[*number];
        let in_core = *number < self.commands_done.len() && packet.expected != Expected::Error;
        in_core.then_some(packet.slot)
    }

    /// Checks that the core refuses the keys for slots in use, and no others.
    fn check_refusal(&mut self) {
        let Bench { model, refusals: Some(refusals), .. } = &mut *self.bench else { return };
        let now = model.clock();
        let expected = self.refused_at == Some(now);
        refusals.count += u64::from(expected);
        assert_eq!(
            model.is_high(refusals.refused),
            expected,
            "key for a slot in use: refused at clock {now}"
        );
        assert_eq!(model.get(refusals.counter), refusals.count, "s_key_refusals at clock {now}");
    }

    fn offer_key(&mut self) {
        let Bench { model, random, key_slot, key_key, .. } = &mut *self.bench;
        let next = self.plan.keys.get(self.keys_done);
        let allowed = next.is_some_and(|&(_, _, after)| self.verdicts.len() >= after);
        if self.keys.starts(model, allowed, random)
            && let Some((slot, key, _)) = next
        {
            model.set(*key_slot, (*slot).into());
            model.set_bytes(*key_key, key);
        }
    }

    fn offer_command(&mut self) {
        let bench = &mut *self.bench;
        let next = self.plan.packets.get(self.commands_done.len());
        let allowed = next.is_some_and(|&(_, keys)| self.keys_done >= keys);
        if self.commands.starts(&mut bench.model, allowed, &mut bench.random)
            && let Some((packet, _)) = next
        {
            let model = &mut bench.model;
            model.set(bench.command_open, packet.open.into());
            model.set(bench.command_slot, packet.slot.into());
            model.set_bytes(bench.command_nonce, &packet.nonce);
            model.set(bench.command_ad, packet.ad.len() as u64);
            model.set(bench.command_message, packet.message.len() as u64);
            model.set(bench.command_padded, packet.padded.into());
        }
    }

    fn offer_beat(&mut self) {
        let bench = &mut *self.bench;
        let next = self.plan.beats.get(self.beats_done);
        if self.input.starts(&mut bench.model, next.is_some(), &mut bench.random)
            && let Some((_, beat)) = next
        {
            let model = &mut bench.model;
            model.set_bytes(bench.input_data, &beat.data);
            model.set(bench.input_keep, beat.keep);
            model.set(bench.input_last, beat.last.into());
            model.set(bench.input_user, beat.kind.into());
        }
    }

    fn offer_received(&mut self) {
        let bench = &mut *self.bench;
        let (Some(sender), Some((_, data))) = (&mut self.received, bench.received) else { return };
        let next = self.plan.received.get(self.received_done);
        if sender.starts(&mut bench.model, next.is_some(), &mut bench.random)
            && let Some(tag) = next
        {
            bench.model.set_bytes(data, tag);
        }
    }

    fn receive(&mut self) -> bool {
        let bench = &*self.bench;
        let Bench { model, width, .. } = bench;
        let now = model.clock();
        let payload = [bench.output_data, bench.output_keep, bench.output_last, bench.output_user];
        let output_taken = self.output.taken(model, &payload);
        if output_taken {
            let output = self.current.get_or_insert_with(|| Output { first: now, ..Output::default() });
            let (keep, last) = (model.get(bench.output_keep), model.is_high(bench.output_last));
            let bytes = keep.trailing_ones() as usize;
            assert!(
                keep == ones(bytes) && (bytes == *width || last && bytes > 0),
                "m_axis: tkeep {keep:#x} with tlast {last} at clock {now}"
            );
            output.bytes.extend_from_slice(&model.bytes(bench.output_data)[..bytes]);
            if last {
                output.bad = model.is_high(bench.output_user);
                output.last = now;
                self.outputs.extend(self.current.take());
            }
        }
        let tag_taken = self.tags.taken(model, &[bench.tag_data, bench.tag_user]);
        if tag_taken {
            let (tag, user) = (model.bytes(bench.tag_data).to_vec(), model.get(bench.tag_user));
            self.verdicts.push(Verdict { tag, user, clock: now });
        }
        output_taken || tag_taken
    }

    /// Compares the outputs with the expected ones.
    fn check(mut self) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(self.plan.packets.len());
        assert!(self.current.is_none(), "incomplete packet on m_axis at the end");
        for (number, (packet, _)) in self.plan.packets.iter().enumerate() {
            let verdict = &self.verdicts[number];
            // A packet that does not verify has its full output, or none if the core may choose.
            let has_output = if packet.is_uncertain() {
                self.outputs.front().is_some_and(|output| output.bad)
            } else {
                packet.output_bytes() > 0
            };
            let output = has_output.then(|| {
                let missing = || panic!("packet {number} has no output: {}", shape(packet));
                self.outputs.pop_front().unwrap_or_else(missing)
            });
            check(number, packet, output.as_ref(), verdict);
            outcomes.push(Outcome {
                command: self.commands_done[number],
                first_in: self.first_in[number],
                last_in: self.last_in[number],
                first_out: output.as_ref().map(|output| output.first),
                last_out: output.as_ref().map(|output| output.last),
                tag: verdict.clock,
            });
        }
        assert_eq!(self.verdicts.len(), self.plan.packets.len(), "more verdicts than packets");
        assert!(self.outputs.is_empty(), "more packets on m_axis than expected");
        outcomes
    }
}

/// Describes a packet in an error message.
fn shape(packet: &Packet) -> String {
    format!(
        "{} in slot {}, {} bytes of additional data, {} of message, padded {}, fault {:?}",
        if packet.open { "opening" } else { "sealing" },
        packet.slot,
        packet.ad.len(),
        packet.message.len(),
        packet.padded,
        packet.fault,
    )
}

fn check(number: usize, packet: &Packet, output: Option<&Output>, verdict: &Verdict) {
    let what = || format!("packet {number}, {}, verdict at clock {}", shape(packet), verdict.clock);
    let no_tag = [0; 16];
    let (tag, user, ignored) = match &packet.expected {
        Expected::Sound { tag, padded, .. } => (tag, u64::from(*padded) << 2, 0),
        Expected::Forged { .. } => (&no_tag, 0b001, 0),
        // The verdict of a packet in error is irrelevant.
        Expected::Error => (&no_tag, 0b010, 0b001),
    };
    assert_eq!(verdict.user & !ignored, user, "m_tag_tuser: {}", what());
    assert_eq!(hex::encode(&verdict.tag), hex::encode(tag), "m_tag_tdata: {}", what());
    let Some(output) = output else { return };
    match &packet.expected {
        Expected::Sound { output: expected, .. } => {
            assert!(!output.bad, "valid packet marked as bad: {}", what());
            if let Some(at) = output.bytes.iter().zip(expected).position(|(got, expected)| got != expected) {
                panic!("wrong byte {at} of the output: {}", what());
            }
            assert_eq!(output.bytes.len(), expected.len(), "number of output bytes: {}", what());
        }
        Expected::Forged { output_bytes } => {
            assert!(output.bad, "forged packet not marked as bad: {}", what());
            if let Some(bytes) = output_bytes {
                assert_eq!(output.bytes.len(), *bytes, "number of output bytes: {}", what());
            }
        }
        Expected::Error => {}
    }
}
