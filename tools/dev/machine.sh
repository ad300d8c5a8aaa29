# shellcheck shell=bash
# Checks of the optimized library: machine code, memory and timing, on this CPU and on emulated CPUs. They share the
# static builds of tools/static-cargo.sh, one for x86-64 and one for Arm.

check_assembly() { tools/check_assembly.py; }

# Ordinary tests have overflow checks and debug assertions; releases have none.
test_release_profile() { tools/static-cargo.sh test --test emulated; }

check_memory() { tools/static-cargo.sh test --test freed --test guard_pages --test stack --test stack_secrets; }

# emulated MODEL BACKEND SAVES HIDE [NAME...]: runs the emulated tests, or some of them, on a CPU model; with TEST, those of
# that target instead. The library must choose BACKEND if the OS saves the registers SAVES and CPUID hides the features
# HIDE. Prints all output at the end, so that parallel runs do not interleave.
emulated() {
    local log status=0
    log=$(EMULATE_CPU=$1 EXPECT_BACKEND=$2 EMULATE_SAVES=$3 EMULATE_HIDE=${4#-} EMULATE_ENV=EXPECT_BACKEND \
        EMULATE_BUILD=$TARGET/emulate CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/tools/emulate/emulate.py \
        tools/static-cargo.sh test --test "${TEST:-emulated}" -- "${@:5}" 2>&1) || status=$?
    printf '%s, saving %s, hiding %s: expecting %s\n%s\n' "$1" "$3" "$4" "$2" "$log"
    return "$status"
}

# emulate [PART]: runs the emulated tests. Each backend runs all of them on the oldest CPU model that supports it; with a
# PART, 0 or 1, half of the backends do. All other runs test only the choice of the backend. What is left on the stack is
# also tested on a CPU with AVX-512.
emulate() {
    make --quiet -C tools/emulate BUILD="$TARGET/emulate"
    tools/static-cargo.sh test --test emulated --no-run
    export -f emulated
    export TARGET
    local first='' second=''
    [[ ${1:-0} == 0 ]] || first=' backend'
    [[ ${1:-1} == 1 ]] || second=' backend'
    xargs -P "$(nproc)" -L 1 bash -c 'emulated "$@"' emulated <<CPUS
tigerlake vaes512 all -$first
corei7_haswell_4770 aesni fxsave -$first
tigerlake vaes256 all avx512$second
core2_penryn_t9600 portable all -$second
tigerlake vaes256 avx - backend
tigerlake aesni sse - backend
tigerlake aesni fxsave - backend
corei7_skylake_x aesni all - backend
corei7_haswell_4770 aesni all - backend
CPUS
    [[ ${1:-0} != 0 ]] || TEST=stack_secrets emulated tigerlake vaes512 all -
}

emulate_sample() { emulate $((SEALCOMB_SEED % 2)); }

# on_arm MODEL BACKEND HIDE [ARGUMENT...]: runs a test on an Arm CPU model that hides the features HIDE. The library must
# choose BACKEND.
on_arm() {
    printf '%s, hiding %s: expecting %s\n' "$1" "$3" "$2"
    EMULATE_CPU=$1 EXPECT_BACKEND=$2 EMULATE_HIDE=${3#-} STATIC_TARGET=$ARM_TARGET \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/tools/emulate/arm.py tools/static-cargo.sh test --test "${@:4}"
}

# Each backend runs all tests on a model for which it is the fastest. The other models test only the choice.
emulate_arm() {
    on_arm cortex-a53 neon - emulated
    on_arm max neon-sha3 - emulated
    on_arm neoverse-n1 portable aes,pmull emulated
    on_arm max neon sha3 emulated -- backend
    on_arm max portable pmull emulated -- backend
    on_arm max neon-sha3 - guard_pages -- nothing_beyond_a_buffer_is_touched
    on_arm max neon-sha3 - freed
    # The check of the guard pages themselves starts a process, which is impossible within the emulator.
    local guard touch status
    for guard in start end; do
        for touch in read write; do
            status=0
            GUARD=$guard TOUCH=$touch on_arm max neon-sha3 - guard_pages -- --exact touch_a_byte_too_many --ignored \
                >"$NOTES/guard.log" 2>&1 || status=$?
            if ((status == 0)) || ! grep -q 'exit status: 139' "$NOTES/guard.log"; then
                echo "not fatal: $touch at the $guard" >&2
                return 1
            fi
        done
    done
}

# The README promises that the command builds on Macs and Gravitons.
check_arm_builds() {
    cargo check --quiet -p sealcomb-cli --target "$ARM_TARGET"
    cargo clippy --quiet -p sealcomb --all-features --target "$ARM_TARGET" -- -D warnings
    cargo clippy --quiet -p sealcomb-cli -p sealcomb-timing --target "$ARM_TARGET" -- -D warnings
    if has_target "$MAC_TARGET"; then
        cargo check --quiet -p sealcomb-cli --target "$MAC_TARGET"
    else
        echo "target $MAC_TARGET is not installed: not checked"
    fi
}

aarch64() {
    check_arm_builds
    tools/check_assembly.py "$ARM_TARGET"
    emulate_arm
}

check_arm_branches() { tools/check_branches.py "$@"; }

check_arm_branches_sample() {
    # shellcheck disable=SC2046  # Two words.
    check_arm_branches $(sampled_algorithms)
}

# sampled_algorithms: prints the ciphers with one key size, which the seed draws. Key sizes share all code except the key
# schedule and the number of rounds.
sampled_algorithms() {
    local sizes=(128 192 256)
    local size=${sizes[SEALCOMB_SEED % 3]}
    echo "aes$size- serpent$size-"
}

trace_sample() {
    # shellcheck disable=SC2046  # Two words.
    trace quick vaes256,vaes512 $(sampled_algorithms)
}

# trace quick|full BACKEND,... [ID...]: checks that no executed branch, address or division depends on a secret.
trace() {
    tools/static-cargo.sh build --example traced
    cargo build --quiet -p sealcomb-trace
    "$TARGET/debug/sealcomb-trace" "$TARGET/static/x86_64-unknown-linux-gnu/release/examples/traced" "$@"
}

# Checks all lengths and schedules. Valgrind does not support the C library of the static build.
check_poison() {
    CARGO_PROFILE_RELEASE_DEBUG=line-tables-only \
        cargo build --quiet --release -p sealcomb-checks --all-features --bin poison
    tools/check_poison.py "$TARGET/release/poison" --long
}
