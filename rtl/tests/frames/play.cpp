// Sends frames through an engine without pauses, and reports their clocks. Built by run_frames.py with MODEL (the class),
// HEADER (its header) and TAG_BESIDE.
//
// Each line of standard input is a case: opening, fresh, loads, size, ad, before, measured. It sends `before` frames, the
// `measured` ones, and `before` frames again, with `ad` bytes of additional data and `size` bytes of message. If these are
// long, the frames before and after are short; they are needed because the engine works ahead.
//   opening  0: seal; 1: open, with a tag after each message, or with TAG_BESIDE always available on s_tag
//   fresh    0: one slot and counter nonces; 1: a different slot for each frame and random nonces
//   loads    1: keys for two other slots are offered continuously
//
// Each output line has: clocks of the `measured` frames, from first beat to first beat, after the first `before` frames;
// keys loaded in the run, and its clocks; latencies of the first frame: from its command to its first beat in, from there
// to its first beat out, and from its last beat in to its tag.
#include HEADER
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int BEAT = 64;
constexpr size_t LONG = 12;  // beats
enum Part { MESSAGE, AD, TAG };

struct Beat {
    Part part;
    int bytes;  // remaining in its part, from this beat on
};

struct Case {
    int opening, fresh, loads, size, ad, before, measured;
};

struct Frame {
    long first_in = -1, last_in = -1, first_out = -1, tag = -1;
};

// Frames of a case, and their beats.
class Sequence {
  public:
    explicit Sequence(const Case &wanted)
        : wanted(wanted), beats(beats_of(wanted, wanted.ad, wanted.size)), beats_of_short(beats_of(wanted, 0, BEAT)) {}

    const Case wanted;

    // First measured frame. After short frames, some frames of the case pass before the pipes hold only these.
    size_t first() const { return wanted.before + (is_long() ? 12 : 0); }
    size_t count() const { return first() + wanted.measured + 1 + wanted.before; }
    bool is_short(size_t frame) const {
        const size_t before = wanted.before;
        return is_long() && (frame < before || frame + before >= count());
    }
    const std::vector<Beat> &of(size_t frame) const { return is_short(frame) ? beats_of_short : beats; }

  private:
    const std::vector<Beat> beats, beats_of_short;

    bool is_long() const { return beats.size() > LONG; }

    static std::vector<Beat> beats_of(const Case &wanted, int ad, int message) {
        std::vector<Beat> beats;
        auto add = [&](Part part, int bytes) {
            for (; bytes > 0; bytes -= BEAT) beats.push_back({part, bytes});
        };
        add(AD, ad);
        add(MESSAGE, message);
        if (wanted.opening && !TAG_BESIDE) add(TAG, 16);
        return beats;
    }
};

class Bench {
  public:
    Bench() : model(std::make_unique<MODEL>()) {
        model->m_axis_tready = 1;
        model->m_tag_tready = 1;
        model->rst = 1;
        for (int i = 0; i < 3; i++) edge();
        model->rst = 0;
    }

    void load(int slots) {
        for (int slot = 0; slot < slots; slot++) {
            offer_key(slot);
            wait_for_key();
        }
        model->s_key_tvalid = 0;
        wait_for_key();  // until the last slot is ready
    }

    void play(const Case &wanted) {
        const Sequence frame_beats(wanted);
        std::vector<Frame> frames(frame_beats.count());
        const size_t count = frames.size();
        long beats = 0;
        for (size_t frame = 0; frame < count; frame++) beats += frame_beats.of(frame).size();
        size_t commands = 0, in = 0, out = 0, tags = 0, beat = 0;
        bool first_out = true;
        long clock = 0, loaded = 0, first_command = 0;
        model->s_cmd_open = wanted.opening;
        model->s_tag_tvalid = wanted.opening;
        command(frame_beats, commands);
        offer(frame_beats, in, beat);
        while (tags < count || out < count) {
            if (wanted.loads) offer_key(11 + loaded % 2);
            model->eval();
            loaded += wanted.loads && model->s_key_tready;
            const bool took_command = commands < count && model->s_cmd_tready;
            const bool took_beat = in < count && model->s_axis_tready;
            if (took_beat) {
                if (beat == 0) frames[in].first_in = clock;
                frames[in].last_in = clock;
            }
            if (model->m_axis_tvalid) {
                if (out == count) fail("a frame too many");
                if (first_out) frames[out].first_out = clock;
                first_out = model->m_axis_tlast;
                out += first_out;
            }
            if (model->m_tag_tvalid) {
                if (tags == count) fail("a tag too many");
                frames[tags++].tag = clock;
            }
            edge();
            if (took_command && commands == 0) first_command = clock;
            if (took_command) command(frame_beats, ++commands);
            if (took_beat) {
                if (++beat == frame_beats.of(in).size()) {
                    beat = 0;
                    in++;
                }
                offer(frame_beats, in, beat);
            }
            if (++clock > 1000 + 20 * beats) fail("stuck");
        }
        model->s_key_tvalid = 0;
        if (wanted.loads) wait_for_key();
        const size_t first = frame_beats.first();
        std::printf("%ld %ld %ld %ld %ld %ld\n", frames[first + wanted.measured].first_in - frames[first].first_in, loaded,
                    clock, frames[0].first_in - first_command, frames[0].first_out - frames[0].first_in, frames[0].tag - frames[0].last_in);
    }

  private:
    std::unique_ptr<MODEL> model;
    std::mt19937 random{1};

    [[noreturn]] static void fail(const char *why) {
        std::fprintf(stderr, "%s\n", why);
        std::exit(1);
    }

    void edge() {
        model->clk = 0;
        model->eval();
        model->clk = 1;
        model->eval();
    }

    void offer_key(int slot) {
        model->s_key_tvalid = 1;
        model->s_key_slot = slot;
        for (size_t i = 0; i < sizeof model->s_key_key / 4; i++) model->s_key_key[i] = random();
    }

    void wait_for_key() {
        for (int clock = 0;; clock++) {
            model->eval();
            const bool ready = model->s_key_tready;
            edge();
            if (ready) return;
            if (clock > 1000) fail("a key is not taken");
        }
    }

    void command(const Sequence &sequence, size_t frame) {
        const Case &wanted = sequence.wanted;
        model->s_cmd_tvalid = frame < sequence.count();
        model->s_cmd_ad_bytes = sequence.is_short(frame) ? 0 : wanted.ad;
        model->s_cmd_message_bytes = sequence.is_short(frame) ? BEAT : wanted.size;
        model->s_cmd_slot = wanted.fresh ? frame % 11 : 3;
        for (int i = 0; i < 3; i++) model->s_cmd_nonce[i] = wanted.fresh ? random() : 0;
        // On the port, the last byte of the nonce is the highest.
        if (!wanted.fresh) model->s_cmd_nonce[2] = __builtin_bswap32(static_cast<uint32_t>(frame));
    }

    void offer(const Sequence &sequence, size_t frame, size_t number) {
        const std::vector<Beat> &beats = sequence.of(frame);
        const Beat &beat = beats[number];
        model->s_axis_tvalid = frame < sequence.count();
        for (int i = 0; i < 16; i++) model->s_axis_tdata[i] = random();
        model->s_axis_tkeep = beat.bytes >= BEAT ? ~0ULL : (1ULL << beat.bytes) - 1;
        model->s_axis_tuser = beat.part;
        model->s_axis_tlast = number + 1 == beats.size();
    }
};

}  // namespace

int main() {
    Bench bench;
    bench.load(13);
    Case wanted;
    while (std::scanf("%d %d %d %d %d %d %d", &wanted.opening, &wanted.fresh, &wanted.loads, &wanted.size, &wanted.ad,
                      &wanted.before, &wanted.measured) == 7) {
        bench.play(wanted);
        std::fflush(stdout);
    }
}
