//! What OpenSSL calls of a cipher, and the parameters by which it asks and tells (provider-cipher(7)).

use std::ffi::{c_int, c_void};
use std::{ptr, slice};

use ctutils::CtEq;
use sealcomb::{Key, Schedule, SealJob, seal_batch_with};

use crate::context::{
    Context, Duplicate, Free, List, Params, context, duplicate, free, get_params, set_params,
};
use crate::gcm::{Block, Gcm, GcmKey};
use crate::ocb::{Ocb, OcbKey, Terms};
use crate::openssl::{self, Algorithm, Dispatch, END, Param, bytes, entry, succeeds};
use crate::whole::WholeKey;

/// The most bytes of an IV that OpenSSL has room for.
const IV_BYTES: usize = 128;
/// A record of TLS 1.2: what of its IV is the connection's, what goes with it, and its header.
const TLS_FIXED_IV: usize = 4;
const TLS_EXPLICIT_IV: usize = 8;
const TLS_AAD: usize = 13;
const TAG_BYTES: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Gcm,
    Ccm,
    Ocb,
    Siv,
    GcmSiv,
}

impl Mode {
    /// `EVP_CIPH_GCM_MODE` and so on.
    fn number(self) -> usize {
        match self {
            Self::Gcm => 0x6,
            Self::Ccm => 0x7,
            Self::Ocb => 0x10003,
            Self::Siv => 0x10004,
            Self::GcmSiv => 0x10005,
        }
    }

    fn block_bytes(self) -> usize {
        if self == Self::Ocb { 16 } else { 1 }
    }

    /// Bytes of an IV unless it is told otherwise; OpenSSL's CCM begins with few.
    fn iv_bytes(self) -> usize {
        match self {
            Self::Gcm | Self::Ocb | Self::GcmSiv => 12,
            Self::Ccm => 7,
            Self::Siv => 0,
        }
    }

    fn takes_iv_bytes(self, count: usize) -> bool {
        match self {
            Self::Gcm => (1..=IV_BYTES).contains(&count),
            Self::Ccm => (7..=13).contains(&count),
            Self::Ocb => (1..=15).contains(&count),
            Self::Siv => count == 0,
            Self::GcmSiv => count == 12,
        }
    }

    fn tag_bytes(self) -> usize {
        if self == Self::Ccm { 12 } else { TAG_BYTES }
    }

    /// What OpenSSL would take. Whether the library does, too, is found when the message comes.
    fn takes_tag_bytes(self, count: usize) -> bool {
        match self {
            Self::Gcm | Self::Ocb => (1..=TAG_BYTES).contains(&count),
            Self::Ccm => (4..=TAG_BYTES).contains(&count) && count.is_multiple_of(2),
            Self::Siv | Self::GcmSiv => count == TAG_BYTES,
        }
    }
}

/// A message to be worked on, in place or from one place to another.
pub(crate) enum Data<'a> {
    InPlace(&'a mut [u8]),
    Apart(&'a [u8], &'a mut [u8]),
}

impl<'a> Data<'a> {
    /// # Safety
    /// So many bytes can be read at `input` and written at `output`, and are nobody else's meanwhile.
    unsafe fn new(input: *const u8, output: *mut u8, count: usize) -> Option<Self> {
        if input.is_null() || output.is_null() || isize::try_from(count).is_err() {
            return (count == 0).then_some(Self::InPlace(&mut []));
        }
        // SAFETY: the caller's promise. Where they overlap in part, the bytes are moved first, and then are in place.
        unsafe {
            if (input as usize).abs_diff(output as usize) < count {
                ptr::copy(input, output, count);
                return Some(Self::InPlace(slice::from_raw_parts_mut(output, count)));
            }
            Some(Self::Apart(slice::from_raw_parts(input, count), slice::from_raw_parts_mut(output, count)))
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.input().len()
    }

    pub(crate) fn input(&self) -> &[u8] {
        match self {
            Self::InPlace(data) => data,
            Self::Apart(input, _) => input,
        }
    }

    /// In place, where it is to be written.
    pub(crate) fn moved(self) -> &'a mut [u8] {
        match self {
            Self::InPlace(data) => data,
            Self::Apart(input, output) => {
                output.copy_from_slice(input);
                output
            }
        }
    }
}

/// Encrypts one message, and returns where the ciphertext is.
pub(crate) fn seal<'a>(
    key: &Key,
    iv: &[u8],
    aad: &[u8],
    data: Data<'a>,
    tag: &mut [u8],
) -> Option<&'a mut [u8]> {
    match data {
        Data::InPlace(data) => {
            key.seal_in_place(iv, aad, data, tag).ok()?;
            Some(data)
        }
        Data::Apart(input, output) => {
            let job = SealJob::new(key, iv, aad, input, output, tag).ok()?;
            seal_batch_with(Schedule::Single, &mut [job]).ok()?;
            Some(output)
        }
    }
}

enum Engine {
    /// There is no key yet.
    None,
    Gcm(Box<GcmKey>, Gcm),
    Ocb(Box<OcbKey>, Box<Ocb>),
    Whole(Box<WholeKey>),
}

/// A cipher as a program has it.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
struct Cipher {
    mode: Mode,
    key_bytes: usize,
    encrypts: bool,
    engine: Engine,
    iv: [u8; IV_BYTES],
    iv_bytes: usize,
    /// Whether there is an IV that no message was encrypted with.
    has_iv: bool,
    /// Additional data: of SIV each call's are a string, others have one at most.
    aad: Vec<Vec<u8>>,
    /// What the message's tag is, or, when opening, what it should be.
    tag: Option<Block>,
    tag_bytes: usize,
    /// Whether a message of one piece has come.
    done: bool,
    /// The header of the record of TLS 1.2 that comes next.
    tls_aad: Option<[u8; TLS_AAD]>,
    /// Whether the IV has a part that stays, and another for each message.
    has_fixed_iv: bool,
}

impl Cipher {
    fn new(mode: Mode, key_bytes: usize) -> Self {
        Self {
            mode,
            key_bytes,
            encrypts: true,
            engine: Engine::None,
            iv: [0; IV_BYTES],
            iv_bytes: mode.iv_bytes(),
            has_iv: false,
            aad: Vec::new(),
            tag: None,
            tag_bytes: mode.tag_bytes(),
            done: false,
            tls_aad: None,
            has_fixed_iv: false,
        }
    }

    fn iv(&self) -> &[u8] {
        &self.iv[..self.iv_bytes]
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Option<()> {
        self.encrypts = encrypts;
        if let Some(iv) = iv.filter(|_| self.mode != Mode::Siv) {
            if !self.mode.takes_iv_bytes(iv.len()) {
                return None;
            }
            self.iv[..iv.len()].copy_from_slice(iv);
            self.iv_bytes = iv.len();
            self.has_iv = true;
        }
        if let Some(key) = key {
            if key.len() != self.key_bytes {
                return None;
            }
            self.engine = match self.mode {
                Mode::Gcm => Engine::Gcm(Box::new(GcmKey::new(key)?), Gcm::Start),
                Mode::Ocb => Engine::Ocb(Box::new(OcbKey::new(key)?), Box::default()),
                Mode::Ccm | Mode::Siv | Mode::GcmSiv => {
                    Engine::Whole(Box::new(WholeKey::new(self.mode, key)?))
                }
            };
        }
        if key.is_some() || iv.is_some() || self.mode == Mode::Siv {
            self.start();
        }
        Some(())
    }

    /// Another message begins.
    fn start(&mut self) {
        self.aad.clear();
        self.done = false;
        self.tls_aad = None;
        if self.encrypts {
            self.tag = None;
        }
        match &mut self.engine {
            Engine::Gcm(_, message) => *message = Gcm::Start,
            Engine::Ocb(_, message) => **message = Ocb::default(),
            Engine::None | Engine::Whole(_) => {}
        }
    }

    fn has_begun(&self) -> bool {
        match &self.engine {
            Engine::None => false,
            Engine::Gcm(_, message) => !matches!(message, Gcm::Start),
            Engine::Ocb(_, message) => message.has_begun(),
            Engine::Whole(_) => self.done,
        }
    }

    /// Only OCB takes additional data after the message has begun.
    fn add_aad(&mut self, aad: &[u8]) -> Option<()> {
        if self.has_begun() && self.mode != Mode::Ocb {
            return None;
        }
        match self.aad.first_mut() {
            Some(one) if self.mode != Mode::Siv => one.extend_from_slice(aad),
            _ => self.aad.push(aad.to_vec()),
        }
        Some(())
    }

    /// Sees to it that there is an IV: who encrypts with GCM and gives none gets a random one, which it asks for afterwards.
    fn need_iv(&mut self) -> Option<()> {
        if self.has_iv || self.mode == Mode::Siv {
            return Some(());
        }
        if !self.encrypts || self.mode != Mode::Gcm || self.done {
            return None;
        }
        sealcomb_random::fill(&mut self.iv[..self.iv_bytes]).ok()?;
        self.has_iv = true;
        Some(())
    }

    /// The next piece of the message. Returns how many bytes were written.
    ///
    /// # Safety
    /// `count` bytes can be read at `input` and `room` be written at `output`, and are nobody else's meanwhile. Both may overlap.
    unsafe fn update(
        &mut self,
        input: *const u8,
        count: usize,
        output: *mut u8,
        room: usize,
    ) -> Option<usize> {
        if self.mode == Mode::Ocb {
            self.need_iv()?;
            let Engine::Ocb(key, message) = &mut self.engine else { return None };
            let nonce = &self.iv[..self.iv_bytes];
            let terms = Terms { encrypts: self.encrypts, nonce, tag_bytes: self.tag_bytes };
            // SAFETY: the caller's promise.
            return unsafe { message.update(key, terms, input, count, output, room) };
        }
        if room < count {
            return None;
        }
        // SAFETY: the caller's promise; there is room.
        self.piece(unsafe { Data::new(input, output, count) }?)
    }

    /// The next piece of a message whose pieces are as long before as after.
    fn piece(&mut self, data: Data<'_>) -> Option<usize> {
        if self.tls_aad.is_some() {
            return self.tls_record(data.moved());
        }
        self.need_iv()?;
        let count = data.len();
        let (iv, encrypts) = (&self.iv[..self.iv_bytes], self.encrypts);
        match &mut self.engine {
            Engine::None | Engine::Ocb(..) => None,
            Engine::Gcm(key, message) => {
                message.update(key, encrypts, iv, one(&self.aad), data)?;
                Some(count)
            }
            // That of nothing may yet become one of something; CCM was told its length.
            Engine::Whole(_) if count == 0 && self.mode != Mode::Ccm => Some(0),
            Engine::Whole(_) if self.done => None,
            Engine::Whole(_) => {
                self.whole(data)?;
                Some(count)
            }
        }
    }

    /// A message that comes in one piece.
    fn whole(&mut self, data: Data<'_>) -> Option<()> {
        let Engine::Whole(key) = &mut self.engine else { return None };
        let iv = &self.iv[..self.iv_bytes];
        self.done = true;
        if self.encrypts {
            self.tag = Some(key.seal(iv, &self.aad, data, self.tag_bytes)?);
            Some(())
        } else {
            key.open(iv, &self.aad, data, &self.tag?[..self.tag_bytes])
        }
    }

    /// Bytes that the end of the message gives out.
    fn bytes_left(&self) -> usize {
        if let Engine::Ocb(_, message) = &self.engine { message.bytes_left() } else { 0 }
    }

    /// The end of the message, for which there is room at `output`. Returns how many bytes were written.
    fn finish(&mut self, output: &mut [u8]) -> Option<usize> {
        self.need_iv()?;
        let iv = &self.iv[..self.iv_bytes];
        let (written, tag) = match &mut self.engine {
            Engine::None => return None,
            Engine::Gcm(key, message) => {
                (0, std::mem::replace(message, Gcm::Start).tag(key, iv, one(&self.aad))?)
            }
            Engine::Ocb(key, message) => {
                let terms = Terms { encrypts: self.encrypts, nonce: iv, tag_bytes: self.tag_bytes };
                std::mem::take(message).finish(key, terms, one(&self.aad), output)?
            }
            Engine::Whole(_) => {
                if !self.done {
                    self.whole(Data::InPlace(&mut []))?;
                }
                self.has_iv = false;
                return Some(0);
            }
        };
        self.has_iv = false;
        self.done = true;
        if self.encrypts {
            self.tag = Some(tag);
            return Some(written);
        }
        let told = self.tag.take();
        if told.is_some_and(|told| told[..self.tag_bytes].ct_eq(&tag[..self.tag_bytes]).to_bool()) {
            return Some(written);
        }
        output.fill(0);
        None
    }

    /// Whether TLS 1.2 has cipher suites with this mode.
    fn is_for_tls(&self) -> bool {
        matches!(self.mode, Mode::Gcm | Mode::Ccm)
    }

    fn tls_tag_bytes(&self) -> usize {
        if self.mode == Mode::Ccm { self.tag_bytes } else { TAG_BYTES }
    }

    /// A record of TLS 1.2 (RFC 5288, section 3; RFC 6655, section 3): its part of the IV, the text, the tag. Returns the bytes
    /// of the result.
    fn tls_record(&mut self, record: &mut [u8]) -> Option<usize> {
        let (aad, encrypts, tag_bytes) = (self.tls_aad.take()?, self.encrypts, self.tls_tag_bytes());
        if !self.has_fixed_iv {
            return None;
        }
        let (record_bytes, text_bytes) =
            (record.len(), record.len().checked_sub(TLS_EXPLICIT_IV + tag_bytes)?);
        let (explicit, rest) = record.split_at_mut(TLS_EXPLICIT_IV);
        let (text, tag) = rest.split_at_mut(text_bytes);
        let iv = &mut self.iv[..self.iv_bytes];
        let changing = &mut iv[self.iv_bytes - TLS_EXPLICIT_IV..];
        match self.mode {
            Mode::Gcm if encrypts => explicit.copy_from_slice(changing),
            // The number of the record, which the header begins with.
            Mode::Ccm if encrypts => explicit.copy_from_slice(&aad[..TLS_EXPLICIT_IV]),
            _ => {}
        }
        changing.copy_from_slice(explicit);
        self.has_iv = false;
        match &mut self.engine {
            Engine::Gcm(key, _) => {
                let mut message = Gcm::Start;
                message.update(key, encrypts, iv, &aad, Data::InPlace(text))?;
                let computed = message.tag(key, iv, &aad)?;
                if encrypts {
                    tag.copy_from_slice(&computed);
                    self.count_up();
                } else if !tag.ct_eq(&computed[..]).to_bool() {
                    text.fill(0);
                    return None;
                }
            }
            Engine::Whole(key) if encrypts => {
                tag.copy_from_slice(&key.seal(iv, &[aad], Data::InPlace(text), tag_bytes)?[..tag_bytes]);
            }
            Engine::Whole(key) => key.open(iv, &[aad], Data::InPlace(text), tag)?,
            Engine::None | Engine::Ocb(..) => return None,
        }
        Some(if encrypts { record_bytes } else { text_bytes })
    }

    /// The changing part of the IV that is next.
    fn next_iv(&self, part: &mut [u8]) -> Option<()> {
        if !self.has_fixed_iv || part.len() > self.iv_bytes {
            return None;
        }
        part.copy_from_slice(&self.iv()[self.iv_bytes - part.len()..]);
        Some(())
    }

    fn count_up(&mut self) {
        let from = self.iv_bytes - TLS_EXPLICIT_IV;
        for byte in self.iv[from..self.iv_bytes].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    /// The changing part of the IV, as who encrypted has told it.
    fn set_invocation(&mut self, part: &[u8]) -> Option<()> {
        if !self.has_fixed_iv || self.encrypts || part.len() > self.iv_bytes {
            return None;
        }
        self.iv[self.iv_bytes - part.len()..self.iv_bytes].copy_from_slice(part);
        self.has_iv = true;
        Some(())
    }

    /// The fixed part of the IV; who encrypts with GCM counts up the rest from a random number on.
    fn set_fixed_iv(&mut self, fixed: &[u8]) -> Option<()> {
        if fixed.len() < TLS_FIXED_IV || self.iv_bytes < fixed.len() + TLS_EXPLICIT_IV {
            return None;
        }
        self.iv[..fixed.len()].copy_from_slice(fixed);
        self.has_fixed_iv = true;
        if self.mode == Mode::Gcm {
            if self.encrypts {
                sealcomb_random::fill(&mut self.iv[fixed.len()..self.iv_bytes]).ok()?;
            }
            self.has_iv = true;
        }
        Some(())
    }

    /// The header of a record, whose length is that of the text afterwards.
    fn set_tls_aad(&mut self, aad: &[u8]) -> Option<()> {
        let mut aad: [u8; TLS_AAD] = aad.try_into().ok()?;
        let record = usize::from(u16::from_be_bytes([aad[11], aad[12]]));
        let around = TLS_EXPLICIT_IV + if self.encrypts { 0 } else { self.tls_tag_bytes() };
        aad[11..].copy_from_slice(&u16::try_from(record.checked_sub(around)?).ok()?.to_be_bytes());
        self.tls_aad = Some(aad);
        Some(())
    }

    fn set_tag(&mut self, param: &Param) -> Option<()> {
        if !self.mode.takes_tag_bytes(param.size()) {
            return None;
        }
        // In OCB all of the message depends on it.
        if self.mode == Mode::Ocb && self.has_begun() && param.size() != self.tag_bytes {
            return None;
        }
        if let Some(bytes) = param.get_bytes() {
            if self.encrypts {
                return None;
            }
            let mut tag = [0; TAG_BYTES];
            tag[..bytes.len()].copy_from_slice(bytes);
            self.tag = Some(tag);
        }
        self.tag_bytes = param.size();
        Some(())
    }

    fn set_one(&mut self, param: &Param) -> Option<()> {
        match param.name() {
            b"tag" => self.set_tag(param),
            b"ivlen" => {
                let count = param.get_number()?;
                if !self.mode.takes_iv_bytes(count) {
                    return None;
                }
                if self.iv_bytes != count {
                    self.iv_bytes = count;
                    self.has_iv = false;
                    self.has_fixed_iv = false;
                }
                Some(())
            }
            b"keylen" => (param.get_number()? == self.key_bytes).then_some(()),
            b"tlsaad" if self.is_for_tls() => self.set_tls_aad(param.get_bytes()?),
            b"tlsivfixed" if self.is_for_tls() => self.set_fixed_iv(param.get_bytes()?),
            b"tlsivinv" if self.mode == Mode::Gcm => self.set_invocation(param.get_bytes()?),
            b"tlsaad" | b"tlsivfixed" | b"tlsivinv" => None,
            _ => Some(()),
        }
    }
}

impl Context for Cipher {
    fn again(&self) -> Option<Self> {
        let engine = match &self.engine {
            Engine::None => Engine::None,
            Engine::Gcm(key, message) => Engine::Gcm(Box::new(key.again()?), message.clone()),
            Engine::Ocb(key, message) => Engine::Ocb(Box::new(key.again()?), message.clone()),
            Engine::Whole(key) => Engine::Whole(Box::new(key.again()?)),
        };
        Some(Self { engine, aad: self.aad.clone(), ..*self })
    }

    fn get(&mut self, param: &mut Param) -> bool {
        match param.name() {
            b"keylen" => param.set_number(self.key_bytes),
            b"ivlen" => param.set_number(self.iv_bytes),
            b"taglen" => param.set_number(self.tag_bytes),
            b"tlsaadpad" => param.set_number(self.tls_tag_bytes()),
            b"iv" | b"updated-iv" => param.set_bytes(&self.iv[..self.iv_bytes]),
            b"tag" => match self.tag {
                Some(tag) if self.encrypts && self.mode.takes_tag_bytes(param.size()) => {
                    param.size() <= self.tag_bytes && param.set_bytes(&tag[..param.size()])
                }
                _ => false,
            },
            b"tlsivgen" if self.mode == Mode::Gcm => {
                let mut part = [0; IV_BYTES];
                let count = param.size().min(self.iv_bytes);
                let told = self.next_iv(&mut part[..count]).is_some() && param.set_bytes(&part[..count]);
                self.has_iv = told;
                told
            }
            b"tlsivgen" => false,
            _ => true,
        }
    }
    fn set(&mut self, params: &[Param]) -> Option<()> {
        params.iter().try_for_each(|param| self.set_one(param))
    }
}

/// Additional data of modes that have one string of it.
fn one(aad: &[Vec<u8>]) -> &[u8] {
    aad.first().map_or(&[], Vec::as_slice)
}

// ---- What OpenSSL calls.

extern "C" fn new<const MODE: usize, const KEY_BYTES: usize>(_provider: *mut c_void) -> *mut c_void {
    Cipher::new(MODES[MODE], KEY_BYTES).into_pointer()
}

type Init = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize, *mut Param) -> c_int;

unsafe extern "C" fn init<const ENCRYPTS: bool>(
    context: *mut c_void,
    key: *const u8,
    key_bytes: usize,
    iv: *const u8,
    iv_bytes: usize,
    params: *mut Param,
) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<Cipher>(context) }?;
        // SAFETY: the same.
        let (key, iv) = unsafe { (bytes(key, key_bytes), bytes(iv, iv_bytes)) };
        context.init(ENCRYPTS, key, iv)?;
        // SAFETY: the same.
        context.set(unsafe { openssl::params(params) })
    })
}

type Update = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;

unsafe extern "C" fn update(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    count: usize,
) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<Cipher>(context) }?;
        let result = if output.is_null() {
            // SAFETY: the same. Without an input either, it tells CCM the length of the message, which the message has.
            if let Some(aad) = unsafe { bytes(input, count) } {
                context.add_aad(aad)?;
            }
            count
        } else {
            // SAFETY: the same.
            unsafe { context.update(input, count, output, room) }?
        };
        // SAFETY: the same.
        unsafe { written.write(result) };
        Some(())
    })
}

type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;

unsafe extern "C" fn finish(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let context = unsafe { self::context::<Cipher>(context) }?;
        let count = context.bytes_left();
        if count > room {
            return None;
        }
        let output = if count == 0 {
            &mut []
        } else {
            // SAFETY: the same; more of the room that it tells need not be there.
            unsafe { slice::from_raw_parts_mut(output, count) }
        };
        let result = context.finish(output)?;
        // SAFETY: the same.
        unsafe { written.write(result) };
        Some(())
    })
}

/// `EVP_Cipher`: a piece, or, without an input, the end.
unsafe extern "C" fn cipher(
    context: *mut c_void,
    output: *mut u8,
    written: *mut usize,
    room: usize,
    input: *const u8,
    count: usize,
) -> c_int {
    // SAFETY: OpenSSL's promises.
    unsafe {
        if input.is_null() && output.is_null() && count == 0 {
            finish(context, output, written, room)
        } else {
            update(context, output, written, room, input, count)
        }
    }
}

unsafe extern "C" fn get_cipher_params<const MODE: usize, const KEY_BYTES: usize>(
    params: *mut Param,
) -> c_int {
    let mode = MODES[MODE];
    // SAFETY: OpenSSL gives a list with an end.
    c_int::from(unsafe { openssl::params(params) }.iter_mut().all(|param| match param.name() {
        b"mode" => param.set_number(mode.number()),
        b"keylen" => param.set_number(KEY_BYTES),
        // The longest that CCM has by default is not the one that it begins with.
        b"ivlen" => param.set_number(if mode == Mode::Ccm { 12 } else { mode.iv_bytes() }),
        b"blocksize" => param.set_number(mode.block_bytes()),
        b"aead" | b"custom-iv" => param.set_number(1),
        b"cts" | b"tls-multi" | b"has-randkey" | b"encrypt-then-mac" => param.set_number(0),
        _ => true,
    }))
}

extern "C" fn gettable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 7] = [
        Param::number(c"mode"),
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"blocksize"),
        Param::number(c"aead"),
        Param::number(c"custom-iv"),
        Param::END,
    ];
    LIST.as_ptr()
}

extern "C" fn gettable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 9] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::number(c"taglen"),
        Param::bytes(c"iv"),
        Param::bytes(c"updated-iv"),
        Param::bytes(c"tag"),
        Param::number(c"tlsaadpad"),
        Param::bytes(c"tlsivgen"),
        Param::END,
    ];
    LIST.as_ptr()
}

extern "C" fn settable_context_params(_: *mut c_void, _: *mut c_void) -> *const Param {
    static LIST: [Param; 7] = [
        Param::number(c"keylen"),
        Param::number(c"ivlen"),
        Param::bytes(c"tag"),
        Param::bytes(c"tlsaad"),
        Param::bytes(c"tlsivfixed"),
        Param::bytes(c"tlsivinv"),
        Param::END,
    ];
    LIST.as_ptr()
}

const MODES: [Mode; 5] = [Mode::Gcm, Mode::Ccm, Mode::Ocb, Mode::Siv, Mode::GcmSiv];

/// The functions of a cipher, by their numbers in `openssl/core_dispatch.h`.
const fn functions<const MODE: usize, const KEY_BYTES: usize>() -> [Dispatch; 15] {
    [
        entry!(1, new::<MODE, KEY_BYTES> as extern "C" fn(*mut c_void) -> *mut c_void),
        entry!(2, init::<true> as Init),
        entry!(3, init::<false> as Init),
        entry!(4, update as Update),
        entry!(5, finish as Final),
        entry!(6, cipher as Update),
        entry!(7, free::<Cipher> as Free),
        entry!(8, duplicate::<Cipher> as Duplicate),
        entry!(9, get_cipher_params::<MODE, KEY_BYTES> as unsafe extern "C" fn(*mut Param) -> c_int),
        entry!(10, get_params::<Cipher> as Params),
        entry!(11, set_params::<Cipher> as Params),
        entry!(12, gettable_params as List),
        entry!(13, gettable_context_params as List),
        entry!(14, settable_context_params as List),
        END,
    ]
}

macro_rules! ciphers {
    ($($names:literal: $mode:literal, $key_bytes:literal;)*) => {
        /// The ciphers, by all the names that OpenSSL has for them.
        pub(crate) static ALGORITHMS: &[Algorithm] = &[
            $({
                static FUNCTIONS: [Dispatch; 15] = functions::<$mode, $key_bytes>();
                Algorithm::new($names, &FUNCTIONS)
            },)*
            Algorithm::END,
        ];
    };
}

ciphers! {
    c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6": 0, 16;
    c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26": 0, 24;
    c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46": 0, 32;
    c"AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7": 1, 16;
    c"AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27": 1, 24;
    c"AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47": 1, 32;
    c"AES-128-OCB": 2, 16;
    c"AES-192-OCB": 2, 24;
    c"AES-256-OCB": 2, 32;
    c"AES-128-SIV": 3, 32;
    c"AES-192-SIV": 3, 48;
    c"AES-256-SIV": 3, 64;
    c"AES-128-GCM-SIV": 4, 16;
    c"AES-256-GCM-SIV": 4, 32;
}
