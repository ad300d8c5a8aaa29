#!/usr/bin/env python3
"""Proves the properties in each NAME_properties.sv, and checks that their covers are reachable.

usage: run.py [--faults N | --sample-faults N] [--sample N] [--seed SEED] [--jobs JOBS] [--build FOLDER]
              [NAME ...]

NAME  only these proofs, e.g. `stream_fifo`

Uses SymbiYosys with k-induction, the native yosys of the Python package pyosys, and yices. A bounded proof
covers every sequence of a number of clocks from a reset instead. Each proof must also fail, with a
counterexample, on each of its planted faults, which shows that it is not vacuous. The seed selects the sample
if only some faults are planted. Times are CPU seconds.
"""

import argparse
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from seeds import add_sample, add_seed, announced, sampled  # noqa: E402

FORMAL = Path(__file__).resolve().parent
RTL = FORMAL.parent
TOOLS = Path(sys.executable).parent  # commands installed by pip

# The command `yosys` that SymbiYosys calls with `-ql LOG SCRIPT`.
YOSYS = f"""#!{sys.executable}
import sys
from pyosys import libyosys

quiet, log, script = sys.argv[1:]
assert quiet == "-ql"
libyosys.run_pass(f"tee -q -o {{log}} script {{script}}", libyosys.Design())
"""


@dataclass(frozen=True)
class Proof:
    """Properties of some modules, with planted faults: source text, replacement, and the instance that finds
    the fault, if not the first."""

    sources: tuple[str, ...]  # under rtl/
    depth: int  # induction depth
    cover: int  # clocks within which each cover is reached and each fault is found
    mutations: tuple[tuple[str, str] | tuple[str, str, int], ...]
    # Replacements that shorten long pipes for covers and faults. The proof itself uses the long ones.
    shrunk: tuple[tuple[str, str], ...] = ()
    # Number of instances of the properties, with different parameters. Each is proved separately, selected by
    # the parameter ONLY, since proving all together takes several times as long.
    instances: int = 0
    # The proof covers every sequence of `depth` clocks from a reset, without induction, with the short pipes.
    bounded: bool = False
    # Without the assertions in the hardware itself, which the proofs of its parts cover.
    bare: bool = False


# The parts of an engine, for the proofs about the keys of its slots. A stand-in replaces the cipher.
ENGINE = (
    "common/stream_rules.sv",
    "common/ram_1r1w.sv",
    "common/ram_lut.sv",
    "common/bytes_pkg.sv",
    "engine/engine_pkg.sv",
    "common/stream_fifo.sv",
    "common/credit_counter.sv",
    "formal/stand_ins/cipher_lanes.sv",
    "common/ring_delay.sv",
    "engine/ram_fifo.sv",
    "engine/received_tag.sv",
    "engine/slot_memory.sv",
    "engine/slot_users.sv",
    "engine/slot_loader.sv",
    "engine/engine_plan.sv",
    "engine/engine_front.sv",
    "engine/engine_output.sv",
)
# The memory of nonces and Ktops, which two proofs examine.
OCB_NONCE = (
    "common/stream_rules.sv",
    "common/ram_1r1w.sv",
    "common/ram_lut.sv",
    "common/credit_counter.sv",
    "common/stream_fifo.sv",
    "engine/ram_fifo.sv",
    "engine/ocb_nonce.sv",
)

PROOFS = {
    "credit_counter": Proof(
        ("common/credit_counter.sv",),
        3,
        12,
        (
            ("if (take != give) count", "count"),
            ("(take ? count > BITS'(1) : count != '0);", "count != '0;"),
            ("(give ? count == BITS'(CREDITS - 1) :", "(give ? count == BITS'(CREDITS) :"),
        ),
    ),
    "stream_fifo": Proof(
        ("common/stream_rules.sv", "common/ram_lut.sv", "common/stream_fifo.sv", "formal/followed_entry.sv"),
        4,
        12,
        (
            ("if (push != popped) space", "if (push || popped) space"),
            ("write_at != read_at && (!m_valid || m_ready)", "write_at != read_at"),
            ("(push ? space != (ADDRESS + 1)'(1) : s_ready)", "s_ready"),
            ("assign push    = s_valid && s_ready;", "assign push    = s_valid;"),
            ("m_valid <= fetch || (m_valid && !m_ready);", "m_valid <= fetch;"),
        ),
    ),
    "ram_fifo": Proof(
        ("common/stream_rules.sv", "common/ram_1r1w.sv", "engine/ram_fifo.sv", "formal/followed_entry.sv"),
        4,
        12,
        (
            ("some && (!fetched || move)", "some"),
            ("(fetch ? waiting != (ADDRESS + 1)'(1) : some)", "some"),
            ("if (move) m_data <= fetched_data;", "m_data <= fetched_data;"),
            ("if (s_valid != popped) stored", "if (s_valid || popped) stored"),
            ("if (fetch) read_at <= read_at + 1'b1;", "if (popped) read_at <= read_at + 1'b1;"),
        ),
    ),
    "lut_queue": Proof(
        ("common/ram_lut.sv", "modes/lut_queue.sv", "formal/followed_entry.sv"),
        4,
        12,
        (
            ("assign valid = write_at != read_at;", "assign valid = 1'b1;"),
            ("if (pop) read_at <= read_at + 1'b1;", "if (pop) read_at <= write_at;"),
            ("logic [ADDRESS:0] write_at;", "logic [ADDRESS-1:0] write_at;"),
        ),
    ),
    "credit_pipe": Proof(
        ("common/stream_rules.sv", "common/ram_lut.sv", "common/credit_counter.sv", "common/stream_fifo.sv"),
        4,
        20,
        (
            ("count     <= BITS'(CREDITS);", "count     <= BITS'(CREDITS + 1);"),
            ("assign popped  = m_valid && m_ready;", "assign popped  = fetch;"),
        ),
    ),
    "packet_release": Proof(
        (
            "common/ram_1r1w.sv",
            "common/packet_release.sv",
        ),
        4,
        24,
        (
            ("if (dropping || s_axis_tuser) begin", "if (dropping) begin"),
            ("fetch = read_at != release_at", "fetch = read_at != write_at"),
            ("release_at <= write_at + 1'b1;", "release_at <= write_at;"),
        ),
    ),
    "byte_packer": Proof(
        ("macsec/byte_packer.sv",),
        3,
        12,
        (
            ("in_bytes < FULL", "1'b1"),
            ("rest <= in_last && !fits;", "rest <= in_last;"),
            ("turned.take ? laid[8*i+:8] : 8'd0", "laid[8*i+:8]"),
            ("assign plan.turn = rest ? '0 :", "assign plan.turn ="),
            ("turned.last ? 8'd0 : joined", "joined"),
            ("(move) begin\n            m_axis_tvalid", "(1'b1) begin\n            m_axis_tvalid"),
            ("assign plan.beat_bad = rest ? rest_bad : in_bad;", "assign plan.beat_bad = in_bad;"),
        ),
    ),
    "vlan_insert": Proof(
        ("macsec/macsec_pkg.sv", "macsec/vlan_insert.sv"),
        2,
        12,
        (
            ("s_beat.last && s_beat.keep[60];", "s_beat.last && s_beat.keep[61];"),
            ("s_vlan.present && s_beat.last &&", "s_beat.last &&"),
            ("assign s_ready = move && !rest;", "assign s_ready = move;"),
            ("assign move = !m_valid || m_ready;", "assign move = 1'b1;"),
            ("m_valid <= s_valid || rest;", "m_valid <= s_valid;"),
            ("rest <= !rest && s_valid", "rest <= s_valid"),
            ("if (s_ready && s_valid) first", "if (s_valid) first"),
            ("if (s_ready && s_valid) begin", "if (s_ready) begin"),
            ("rest_keep <= s_beat.keep[63:60];", "rest_keep <= 4'hf;"),
            ("s_beat.last && !overflows;", "s_beat.last;"),
            ("if (first) m_beat.data", "if (!s_beat.last) m_beat.data"),
            ("{s_beat.data[479:0], carried}", "{s_beat.data[479:0], s_vlan.tag}"),
            ("{s_beat.data[479:96], s_vlan.tag, s_beat.data[95:0]}", "{s_beat.data[479:0], s_vlan.tag}"),
            ("m_beat.keep <= {s_beat.keep[59:0], 4'hf};", ""),
            ("                if (s_vlan.present) begin", "                if (1'b1) begin"),
        ),
    ),
    "vlan_remove": Proof(
        ("macsec/macsec_pkg.sv", "macsec/vlan_remove.sv"),
        2,
        12,
        (
            ("s_beat.last && !s_beat.keep[4];", "s_beat.last && !s_beat.keep[5];"),
            ("s_beat.last && !s_beat.keep[4];", "s_beat.last && !s_beat.keep[3];"),
            ("m_vlan.present && !held.last && s_beat.last", "m_vlan.present && s_beat.last"),
            ("first ? s_remove : m_vlan.present;", "s_remove;"),
            ("(held.last || !m_vlan.present || s_valid);", "(held.last || !m_vlan.present);"),
            ("(held.last || !m_vlan.present || s_valid);", "(!m_vlan.present || s_valid);"),
            ("assign m_bad = ends ? s_bad : held_bad;", "assign m_bad = held_bad;"),
            ("if (m_vlan.present && !held.last) begin", "if (m_vlan.present) begin"),
            ("m_beat.last = ends;", ""),
            ("if (s_valid || m_valid) held_valid", "held_valid"),
            ("s_valid && !(held_valid && ends);", "s_valid;"),
            ("if (s_valid && first) m_vlan.present", "if (s_valid) m_vlan.present"),
            ("if (s_ready && s_valid && first) m_vlan.tag", "if (s_ready && s_valid) m_vlan.tag"),
            ("held.keep <= s_beat.keep >> 4;", ""),
            ("if (first) held.data[95:0] <= s_beat.data[95:0];", ""),
        ),
    ),
    "macsec_keys": Proof(
        ("macsec/macsec_keys.sv",),
        3,
        16,
        (
            ("WAIT: if (ahead == '0) state <= WRITE;", "WAIT: state <= WRITE;"),
            ("state == SETTLE || state == SETTLED)", "state == SETTLE)"),
            ("set_use && keyed[set_slot]", "set_use"),
            ("keyed[i]  <= 1'b0;\n                end else", "end else"),
            ("if (overwrite) in_use <= '0;", ""),
            ("s_key_tready && !in_use[s_key_slot];", "s_key_tready;"),
            ("in_use[i] <= 1'b0;\n                    keyed[i]", "keyed[i]"),
            ("m_key_key  <= overwrite ? '0 : s_key_key;", "m_key_key  <= s_key_key;"),
            ("if (zeroize && state != IDLE) asked <= 1'b1;", ""),
            ("last_slot <= !overwrite;", "last_slot <= 1'b1;"),
            ("DRAIN:\n                if (m_key_tready) begin", "DRAIN:\n                begin"),
            ("coming = state != IDLE && !overwriting &&", "coming = state == WRITE && !overwriting &&"),
        ),
    ),
    "packet_front": Proof(
        ("common/bytes_pkg.sv", "common/packet_front.sv"),
        5,
        24,
        (
            (" && s_axis_tlast == block_last);", ");"),
            ("if (give && block_last && !early && !s_axis_tlast) swallow <= 1'b1;", ""),
            ("{8{keep[i] && !early}}", "{8{keep[i]}}"),
            ("misfit <= command_error;", "misfit <= 1'b0;"),
            ("(!block_last || verdict_free);\n    assign give", "1'b1;\n    assign give"),
        ),
    ),
    "packet_finish": Proof(
        ("common/bytes_pkg.sv", "modes/packet_finish.sv"),
        3,
        12,
        (
            (
                "assign last_may_go = known && !packet_barren && !last_gone;",
                "assign last_may_go = known && !packet_barren;",
            ),
            ("m_tag_tvalid = known && !tag_gone;", "m_tag_tvalid = known;"),
            (
                "failed = !packet_barren && result_failed && !verdict_error;",
                "failed = !packet_barren && result_failed;",
            ),
            (
                "m_axis_tuser  = beat_last && (failed || verdict_error);",
                "m_axis_tuser  = beat_last && failed;",
            ),
        ),
    ),
    "packet_results": Proof(
        (
            "common/stream_rules.sv",
            "common/ram_lut.sv",
            "common/bytes_pkg.sv",
            "common/credit_counter.sv",
            "common/stream_fifo.sv",
            "modes/packet_results.sv",
        ),
        3,
        16,
        (
            (".give(packet_popped)", ".give(m_tag_tready)"),
            (".give(beat_popped)", ".give(m_axis_tvalid)"),
            (".s_valid(verdict_push && verdict_message)", ".s_valid(verdict_push)"),
            ("assign beat_ready = m_axis_tready && !waits;", "assign beat_ready = m_axis_tready;"),
            (
                "assign m_tag_tvalid = tag_valid && (!tag_open || verdict_valid);",
                "assign m_tag_tvalid = tag_valid;",
            ),
        ),
    ),
    "slot_loader": Proof(
        (
            "common/bytes_pkg.sv",
            "aes/aes_pkg.sv",
            "aes/aes_sbox.sv",
            "aes/aes_sbox_word.sv",
            "aes/aes_last_round_key.sv",
            "engine/slot_users.sv",
            "engine/slot_loader.sv",
        ),
        3,
        36,
        (
            ("assign s_key_tready = !loading;", "assign s_key_tready = !make;"),
            ("else if (make_ack) make <= 1'b0;", ""),
            ("(write_key || made)) loaded[i]", "made) loaded[i]"),
            ("write_key = asked && !used;", "write_key = asked;"),
            ("used <= counted[asked_slot] ||", "used <= counted[asked_slot] &&"),
            ("ended && ended_slot == SLOT_BITS'(i)", "ended"),
            ("counted[i] <= counts[COUNT_BITS*i+:COUNT_BITS] != COUNT_BITS'(1);", "counted[i] <= 1'b0;"),
            ("if (s_key_refused || made) loading", "if (made) loading"),
            ("if (walked) make <= 1'b1;", "if (write_key) make <= 1'b1;"),
            ("in_key = bytes_pkg::swap128(s_key_key);", "in_key = s_key_key;"),
        ),
    ),
    "ghash": Proof(
        (
            "common/ram_1r1w.sv",
            "common/ram_lut.sv",
            "gf128/gf128_power_table.sv",
            "gf128/ghash.sv",
        ),
        2,
        24,
        (
            ("assign load_ready = !loading;", "assign load_ready = !wanted;"),
            ("else if (store && which == TOP_POWER) loading", "else if (made && which == TOP_POWER) loading"),
            ("which <= which + 1'b1;", ""),
            ("power <= load_key;", ""),
            (".write_address({loading_slot, which})", ".write_address({one_slot, which})"),
            ("if (store) wanted <= which != TOP_POWER;", "if (store) wanted <= 1'b1;"),
        ),
        (("TOP_POWER = POWER_BITS'(POWERS - 1);", "TOP_POWER = POWER_BITS'(1);"),),
    ),
    "ocb_nonce": Proof(
        OCB_NONCE,
        13,
        13,
        # A Ktop that outlasts its key is a fault of ocb_ktop, and planted in simulation (tools/mutations).
        # The first offset under a slot's second key comes after more than 22 clocks. In 20 CPU seconds each,
        # the solver reached 14 with two values of the nonce's low six bits, 16 without the shift by them, and
        # 18 with Ktops of one bit, nonces of a byte, and two packets at a time.
        (
            (
                "again = packet_illegal || (known && differs == '0);",
                "again = packet_illegal || differs == '0;",
            ),
            ("top[127:64] ^ top[119:56]", "top[127:64] ^ top[118:55]"),
            ("shift <= bottom[2:0];", "shift <= pending_bottom[2:0];"),
            (".s_data({again, packet_bottom})", ".s_data({again, s_nonce[5:0]})"),
            ("(pending_again || answers_valid);", "(pending_again || answer_valid);"),
        ),
        (("int OFFSETS = 8;", "int OFFSETS = 2;"),),
        bounded=True,
    ),
    "ocb_ktop": Proof(
        OCB_NONCE,
        3,
        10,
        (
            ("(known && differs == '0);", "differs == '0;"),
            ("if (forget && forget_slot == packet[90+:SLOT_BITS]) known", "if (1'b0) known"),
            ("if (forget && forget_slot == packet", "if (forget && forget_slot != packet"),
            ("if (!s_illegal) packet <=", "packet <="),
            ("offered[18*i+:18] != earlier[18*i+:18]", "offered[18*i+:17] != earlier[18*i+:17]"),
            ("(18 * PIECES)'({s_slot, s_nonce[95:6]});", "(18 * PIECES)'({packet[90], s_nonce[95:6]});"),
            ("else if (take && !again) known", "else if (take) known"),
            ("asked <= second_valid ? second : packet;", "asked <= packet;"),
            ("if (take) second <= packet;", "second <= packet;"),
            ("ask_valid <= second_valid || (take && !again);", "ask_valid <= take && !again;"),
        ),
        bare=True,
    ),
    "gcm512_keys": Proof(
        (
            *ENGINE,
            "formal/stand_ins/ghash4.sv",
            "engine/gcm_counter.sv",
            "engine/gcm_lanes.sv",
            "engine/gcm_hash.sv",
            "engine/gcm512.sv",
            "formal/engine_keys_checks.sv",
        ),
        20,
        20,
        (
            # The slot is free before the packet is done: at each of its beats.
            (
                ".ends(done),\n        .ends_slot(done_slot),",
                ".ends(front.beat_valid),\n        .ends_slot(front.beat_slot),",
            ),
            (".begins(s_cmd_tvalid && s_cmd_tready),", ".begins(front.beat_valid),"),
            (".begins_slot(s_cmd_slot),", ".begins_slot(front.beat_slot),"),
        ),
        (
            ("SPLIT == 1 && CIPHER != 1 ? 2 * ROUNDS + 1 : ROUNDS + 1;", "3;"),
            ("int PACKETS = 64;", "int PACKETS = 4;"),
        ),
        bounded=True,
        bare=True,
    ),
    "ocb512_keys": Proof(
        (
            *ENGINE,
            "engine/ocb_pkg.sv",
            "engine/ocb_nonce.sv",
            "engine/ocb_masks.sv",
            "engine/ocb_collect.sv",
            "engine/ocb_calls.sv",
            "engine/ocb_lanes.sv",
            "engine/ocb_tags.sv",
            "engine/ocb512.sv",
            "formal/engine_keys_checks.sv",
        ),
        20,
        30,
        (
            (
                ".ends(call_done[FINISH]),\n        .ends_slot(done_slot),",
                ".ends(front.beat_valid),\n        .ends_slot(front.beat_slot),",
            ),
        ),
        (
            ("LATENCY = ROUNDS + 1;", "LATENCY = 3;"),
            ("CIPHER != 0 && DIRECTION != 0 ? 128 : 64;", "4;"),
            ("int COMMANDS = 64;\n\n    // Calls", "int COMMANDS = 4;\n\n    // Calls"),
        ),
        bounded=True,
        bare=True,
    ),
    "ocb_collect": Proof(
        ("engine/engine_pkg.sv", "engine/ocb_collect.sv"),
        3,
        12,
        (
            ("checksum_next = first_1 ? '0 : checksum;", "checksum_next = checksum;"),
            ("hash <= (start_1 ? '0 : hash)", "hash <= (first_1 ? '0 : hash)"),
            ("else if (valid_1 && start_1) checksum <= '0;", ""),
            ("finish_valid <= valid_1 && final_1 && !rst;", "finish_valid <= final_1 && !rst;"),
            ("pad[i] = i != 0 && in_bytes", "pad[i] = in_bytes"),
            ("in_bytes[3:0] <= 4'(i % 16)", "in_bytes[3:0] < 4'(i % 16)"),
            ("finish_hash = hash ^ tag_2;", "finish_hash = hash ^ tag_1;"),
        ),
    ),
    "ocb_calls": Proof(
        ("common/stream_rules.sv", "common/ram_1r1w.sv", "engine/ram_fifo.sv", "engine/ocb_calls.sv"),
        3,
        20,
        (
            ("ktop_ack = ktop_valid && !make && !uses[3];", "ktop_ack = ktop_valid && !uses[3];"),
            ("make_ack = make && !uses[3];", "make_ack = make && !uses[2];"),
            ("hold <= many || (", "hold <= many && ("),
            ("uses[0] ?", "1'b0 ?"),
            (": {2'b00, waited[3]};", ": 3'd0;"),
            (": {2'b00, waited[3]};", ": {2'b00, waited[2]};"),
            ("if (rst || finish_ack) waited", "if (rst) waited"),
            ("uses[0] ?", "1'b1 ?"),
            ("+ {2'b0, !make}\n", "+ 3'd1\n"),
            ("call_slot = make ? make_slot : ktop_valid", "call_slot = make ? make_slot : finish_valid"),
        ),
    ),
    "encrypt_turns": Proof(
        ("modes/pipe_key.sv", "modes/encrypt_turns.sv"),
        3,
        20,
        (
            ("assign idle = !busy && !verify_pending;", "assign idle = !busy;"),
            ("nonce_call && !verify && !key_goes", "nonce_call && !verify"),
            (": !verify_pending && may_load);", ": may_load);"),
            ("key_called = key_goes && (KEYS != 0 || key_there);", "key_called = key_goes;"),
            ("if (verify) slot = verify_slot;", ""),
            ("left_anew = load || (KEYS == 0 && enter);", "left_anew = load;"),
            ("may_load || (KEYS == 0 && left_anew) ? BITS", "may_load ? BITS"),
            ("&& !(nonce_call && nonce_there && settled)\n", "\n"),
            (" && !(key_call && key_there && settled)", ""),
            ("else if (forget && forget_slot == slot) held <= 1'b0;", ""),
        ),
    ),
    "copa_issue": Proof(
        (
            "common/ram_lut.sv",
            "common/bytes_pkg.sv",
            "gf128/gf128_pkg.sv",
            "modes/ragged_pkg.sv",
            "modes/copa_pkg.sv",
            "common/ring_delay.sv",
            "modes/pipe_key.sv",
            "modes/copa_nonce.sv",
            "modes/copa_issue.sv",
            "formal/followed_key.sv",
        ),
        3,
        24,
        (
            ("place_free <= !v_places[1] && !sigma_places[1];", "place_free <= !v_places[1];"),
            ("key_ready && (!ends_ad || v_place_free);", "key_ready;"),
            ("command_ready = between && !wanted &&", "command_ready = between &&"),
            ("pipe_may_load && none_reserved &&", "pipe_may_load &&"),
            ("none_reserved && !(KEYS == 0 && upper_valid)", "none_reserved"),
            ("if (load_key) fresh <= 1'b0;", ""),
            ("first <= 1'b0;", ""),
            ("take = issue_message;", "take = issue_message && !hollow;"),
            ("            key_slot,\n", "            slot,\n"),
            ("load_key  = fresh && issue;", "load_key  = fresh;"),
        ),
        (("UPPER_OUT = 12;", "UPPER_OUT = 3;"), ("LOWER_OUT = 38;", "LOWER_OUT = 6;")),
    ),
    "eme2_issue": Proof(
        (
            "common/ram_lut.sv",
            "common/bytes_pkg.sv",
            "gf128/gf128_pkg.sv",
            "modes/ragged_pkg.sv",
            "modes/eme2_pkg.sv",
            "common/ring_delay.sv",
            "modes/pipe_key.sv",
            "modes/eme2_issue.sv",
            "formal/followed_key.sv",
        ),
        3,
        24,
        (
            ("place_free = !mp_places[0] && !mm_places[0] &&", "place_free = !mp_places[0] &&"),
            ("(!ends || (mp_place_free && in_order));", "(!ends || in_order);"),
            ("in_order <= m1_time >= mixing;", "in_order <= 1'b1;"),
            ("pipe_may_load && none_reserved &&", "pipe_may_load &&"),
            ("(next_valid && !begins) ||", "next_valid ||"),
            ("command_ready = !next_valid && packet_room", "command_ready = packet_room"),
            (
                "if (issue_message && last_block) state <= IN_PARTIAL;",
                "if (issue_message && last_block) state <= IDLE;",
            ),
            ("key_slot = place_mixing[MIXING-1-:4];", "key_slot = slot;"),
        ),
        (("OUT = 12;", "OUT = 3;"),),
    ),
    "elmd_intake": Proof(
        ("modes/elmd_intake.sv",),
        2,
        6,
        (
            ("block_ready = !held || take;", "block_ready = !held;"),
            ("else if (block_ready) held <= block_valid;", "else held <= block_valid;"),
            ("held_block  <= block | padding;", "held_block  <= block;"),
        ),
    ),
    "elmd_control": Proof(
        ("modes/elmd_control.sv",),
        3,
        20,
        (
            ("command_ready = free && !wanted && !blocked;", "command_ready = free && !blocked;"),
            ("command_ready = free && !wanted && !blocked;", "command_ready = free && !wanted;"),
            ("verdict_ready = sends_tag && credit;", "verdict_ready = sends_tag;"),
            ("NONCE: enter = !new_key || settled;", "NONCE: enter = 1'b1;"),
            ("if (enter && state == KEY) wave_known <= 1'b0;", ""),
            ("EMPTY: enter = credit;", "EMPTY: enter = 1'b1;"),
            ("if (enter_last && !open) state <= TAG;", "if (enter_last) state <= TAG;"),
            ("(l_made && !made) ||", ""),
            ("(KEYS != 0 || (state == IDLE && settled))", "(KEYS != 0 || state == IDLE)"),
            ("if (load) making_slot <= s_key_slot;", "making_slot <= s_key_slot;"),
        ),
    ),
    "gcm_sequence": Proof(
        ("modes/gcm_sequence.sv",),
        2,
        12,
        (
            ("if (step_kind == MESSAGE && part_last) step_bytes = message_bytes;", ""),
            ("part_last <= message_blocks == 13'd1;", ""),
            ("(step_kind == MESSAGE || !step_message)) step_kind", "step_kind == MESSAGE) step_kind"),
            ("if (step_kind == MESSAGE) counter <= counter + 1'b1;", "counter <= counter + 1'b1;"),
            ("step_last = step_kind == MESSAGE &&", "step_last ="),
            ("(step_kind == TAG || step_kind == ILLEGAL);", "step_kind == TAG;"),
            (
                "step_valid <= take || (step_valid && !finish);",
                "step_valid <= take || (step_valid && !step_done);",
            ),
            ("count - {11'd0, last != 4'd0}", "count - 12'd1"),
        ),
    ),
    "ocb3_sequence": Proof(
        ("modes/ocb3_sequence.sv",),
        3,
        14,
        (
            ("next_valid && from_start && !start_valid);", "1'b0);"),
            ("number <= in_ad && part_last ? 12'd1 : number + 1'b1;", "number <= number + 1'b1;"),
            ("if (in_message && part_last) bytes = message_bytes;", ""),
            ("first  <= in_ad && part_last;", "first <= 1'b0;"),
            ("else if (advance) next_valid <= active;", "else if (advance) next_valid <= active && !finish;"),
            ("advance ? next_valid : step_valid && !step_done;", "next_valid;"),
        ),
    ),
    "engine_front": Proof(
        (
            "common/stream_rules.sv",
            "common/ram_lut.sv",
            "common/bytes_pkg.sv",
            "engine/engine_pkg.sv",
            "common/stream_fifo.sv",
            "engine/engine_plan.sv",
            "engine/engine_front.sv",
        ),
        1,
        14,
        (
            ("assign wants_input = stream.reads && !fill;", "assign wants_input = stream.reads;"),
            (
                "fifo_ready && !(loading && s_cmd_tvalid && loading_slot == s_cmd_slot);",
                "fifo_ready;",
            ),
            ("assign s_cmd_tready = may_take && prepare_ready;", "assign s_cmd_tready = may_take;"),
            ("nonce[8*i+:8] = s_cmd_nonce[8*(11-i)+:8];", "nonce[8*i+:8] = s_cmd_nonce[8*i+:8];"),
            ("|| (DIRECTION == 0 && s_cmd_open) ||", "||"),
            ("packet_ready && !swallow && !swallow_tag", "packet_ready && !swallow", 3),
            ("&& !hold && credit_beat && credit_packet;", "&& !hold && credit_packet;"),
            ("go = may_go && (!stream.wants_tag || s_tag_tvalid);", "go = may_go;", 3),
            ("TAG_BESIDE == 1 && head.open && !head.illegal;", "TAG_BESIDE == 1 && head.open;", 3),
            ("(from_next ? next_tag : has_tag);", "next_tag;", 3),
            (
                "!(TAIL == 1 && head.message_end[5:4] == 2'd3);",
                "TAIL == 0;",
                2,
            ),
            ("swallow <= stream.illegal ? stream.any :", "swallow <= stream.illegal ? 1'b1 :"),
            ("consume && stream.last && !s_axis_tlast;", "1'b0;"),
            (
                "s_axis_tready = swallow || (go && wants_input && planned_place.step);",
                "s_axis_tready = swallow || (go && wants_input);",
                1,
            ),
            ("bad <= !given.final_beat && (bad || misfit);", "bad <= !given.final_beat && misfit;"),
            ("keep[i] && !fill ?", "!fill ?"),
            ("bytes[3:0] > 4'(i % 16)", "bytes[3:0] >= 4'(i % 16)"),
            ("last_byte[5:4] == 2'(i) && last_byte[3:0] != 4'd15", "last_byte[5:4] == 2'(i)"),
            ("beat_valid <= emit && !rst;", "beat_valid <= go && !rst;"),
            ("{10{!(from_next || (step && part.one))}};", "{10{!from_next}};"),
            (
                "assign emit_message = emit && planned.kind == engine_pkg::MESSAGE;",
                "assign emit_message = emit && given.kind == engine_pkg::MESSAGE;",
            ),
            ("emit && planned.partial != '0;", "emit && stream.full != '1;"),
            ("emit && planned.kind == engine_pkg::AD;", "planned.kind == engine_pkg::AD;"),
            ("assign next_take = move && from_next;", "assign next_take = move;"),
            ("part_then.two = part.more == 10'd2;", "part_then.two = part.more == 10'd1;"),
            (
                "else if (part.kind == engine_pkg::AD && packet.has_message)",
                "else if (part.kind == engine_pkg::AD)",
                2,
            ),
            (
                "assign misfit = beat_consumed && differs != '0;",
                "assign misfit = beat_consumed && differs[21:0] != '0;",
            ),
            ("valid <= !from_next || next_valid;", "valid <= next_valid;"),
        ),
        instances=4,
        bare=True,
    ),
    "engine_output": Proof(
        (
            "common/stream_rules.sv",
            "common/ram_1r1w.sv",
            "common/ram_lut.sv",
            "common/bytes_pkg.sv",
            "common/credit_counter.sv",
            "common/stream_fifo.sv",
            "engine/engine_pkg.sv",
            "engine/ram_fifo.sv",
            "engine/engine_output.sv",
        ),
        3,
        16,
        (
            ("packet_given <= tag_popped", "packet_given <= m_tag_tready"),
            ("beat_given   <= beat_popped", "beat_given   <= m_axis_tvalid"),
            (".s_valid(compared_valid && compared.open && compared.has_message)", ".s_valid(compared_valid)"),
            ("assign verdict_take = beat_popped && waits;", "assign verdict_take = beat_popped;"),
            (".m_ready(m_axis_tready && !(waits && !verdict_valid))", ".m_ready(m_axis_tready)"),
            (
                "assign m_axis_tvalid = head_valid && !(waits && !verdict_valid);",
                "assign m_axis_tvalid = head_valid;",
            ),
        ),
    ),
}

SCRIPT = """[options]
mode {mode}
depth {depth}
[engines]
smtbmc yices
[script]
read_slang --top {top} {options} {names}
prep -top {top}
{also}
[files]
{paths}
"""


def make_tools(folder: Path) -> Path:
    """Creates a folder of commands under the names that SymbiYosys and its tools expect."""
    folder.mkdir(parents=True, exist_ok=True)
    yosys = folder / "yosys"
    yosys.write_text(YOSYS)
    yosys.chmod(0o755)
    for name in ("yosys-smtbmc", "yosys-witness"):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(TOOLS / f"yowasp-{name}")
    return folder


@dataclass(frozen=True)
class Task:
    """A proof, the search for its covers, or the search for one of its faults."""

    name: str
    mode: str  # of SymbiYosys; `bmc` without a fault is a bounded proof
    fault: int | None = None  # index of the mutation
    only: int | None = None  # index of the instance

    def label(self) -> str:
        what = self.mode if self.fault is None else f"fault{self.fault}"
        return f"{self.name}_{what}" + ("" if self.only is None else f"_{self.only}")

    def says(self, good: bool) -> str:
        words = {"prove": "proved", "cover": "covered", "bmc": "refuted"}
        if self.fault is None:
            words["bmc"] = f"proved for {PROOFS[self.name].depth} clocks:"
        word = words[self.mode] if good else "FAILED"
        fault = "" if self.fault is None else f" with {PROOFS[self.name].mutations[self.fault][1]!r}"
        only = "" if self.only is None else f" {self.only}"
        return f"{word:7} {self.name}{only}{fault}"


def changed(task: Task, folder: Path) -> list[Path]:
    """Writes copies of the sources, with shortened pipes and the task's fault; returns their paths."""
    proof = PROOFS[task.name]
    changes = proof.shrunk if task.fault is None else (*proof.shrunk, proof.mutations[task.fault][:2])
    texts = {source: (RTL / source).read_text() for source in proof.sources}
    for before, after in changes:
        if sum(text.count(before) for text in texts.values()) != 1:
            sys.exit(f"fault's text must occur exactly once in {proof.sources}: {before}")
        texts = {source: text.replace(before, after) for source, text in texts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for source, text in texts.items():
        copies.append(folder / Path(source).name)
        copies[-1].write_text(text)
    return copies


def run(task: Task, build: Path, environment: dict[str, str]) -> bool:
    """Returns whether the proof holds, its covers are reached, or the fault is found."""
    proof = PROOFS[task.name]
    top = f"{task.name}_properties"
    script = build / f"{task.label()}.sby"
    if task.mode == "prove":
        sources = [RTL / source for source in proof.sources]
    else:
        sources = changed(task, build / f"{task.label()}_sources")
    sources.append(FORMAL / f"{top}.sv")
    only = () if task.only is None else (f"-GONLY={task.only}",)
    # slang would define SYNTHESIS, which omits the assertions in the hardware.
    assertions = () if proof.bare else ("--no-synthesis-define",)
    script.write_text(
        SCRIPT.format(
            mode=task.mode,
            # Covers do not need the logic that only assertions read, which takes most of the solver's time.
            also=("chformal -assert -remove\n" if task.mode == "cover" else "")
            # Without induction, memories are cheaper as registers than as arrays.
            + ("memory_map\n" if proof.bounded else ""),
            depth=proof.cover if task.mode == "cover" or task.fault is not None else proof.depth,
            top=top,
            options=" ".join((*assertions, *only)),
            names=" ".join(source.name for source in sources),
            paths="\n".join(map(str, sources)),
        )
    )
    command = [TOOLS / "yowasp-sby", "-f", "--yosys", "yosys", "--smtbmc", "yosys-smtbmc", script.name]
    log = build / f"{task.label()}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=build, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = log.read_text()
    # Any other result, including none, is a failure.
    verdict = "DONE (PASS, rc=0)" if task.fault is None else "DONE (FAIL, rc=2)"
    good = said.count(verdict) == 1 and (process.returncode == 0) == (task.fault is None)
    print(f"{task.says(good)} ({usage.ru_utime + usage.ru_stime:.1f} s)", flush=True)
    if not good:
        print(said[-8000:])
    return good


def faults_of(name: str) -> list[Task]:
    proof = PROOFS[name]
    shown_by = [next(iter(only), 0) for _, _, *only in proof.mutations]
    return [Task(name, "bmc", i, only if proof.instances else None) for i, only in enumerate(shown_by)]


def drawn(faults: list[Task], each: int | None, together: int | None, seed: int) -> list[Task]:
    """Returns the faults to plant: at most `each` per proof, `together` in total, or all of them."""
    rng = random.Random(seed)
    if together is not None:
        return rng.sample(faults, min(together, len(faults)))
    if each is None:
        return faults
    by_proof = [[fault for fault in faults if fault.name == name] for name in PROOFS]
    return [fault for some in by_proof for fault in rng.sample(some, min(each, len(some)))]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="(default: one per processor)")
    parser.add_argument("--build", type=Path, default=RTL.parent / "target" / "rtl-formal")
    sample = parser.add_mutually_exclusive_group()
    sample.add_argument(
        "--faults", type=int, metavar="N", help="plant N random faults per proof (default: all)"
    )
    sample.add_argument("--sample-faults", type=int, metavar="N", help="plant N random faults in total")
    add_sample(parser, "proof")
    add_seed(parser)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *PROOFS])
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tools = make_tools(build / "tools")
    environment = os.environ | {"PATH": f"{tools}:{TOOLS}:{os.environ['PATH']}"}
    seed = announced(arguments.seed)
    names = sampled(arguments.names or list(PROOFS), arguments.sample, seed)
    instances = [(name, only) for name in names for only in range(PROOFS[name].instances) or (None,)]
    tasks = [
        Task(name, mode, only=only)
        for name, only in instances
        for mode in ("bmc" if PROOFS[name].bounded else "prove", "cover")
    ]
    faults = [fault for name in names for fault in faults_of(name)]
    planted = drawn(faults, arguments.faults, arguments.sample_faults, seed)
    tasks += planted
    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = list(pool.map(lambda task: run(task, build, environment), tasks)).count(False)
    print(f"{len(names)} proofs, {len(planted)} faults, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
