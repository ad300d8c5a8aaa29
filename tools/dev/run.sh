# shellcheck shell=bash
# Runs the steps of a suite in the order of steps.table, then prints the cost of each step.

readonly TABLE=tools/dev/steps.table
# The budget of CI, in seconds of wall time. CI is stopped after 90 minutes.
readonly CI_SECONDS=3900
readonly SKIPPED=$NOTES/skipped

word test "[--since REV]" "run_suite test" \
    "Install what is missing and run every check except the hardware tests. The last line is \`all checks passed\`."
word ci "" "run_suite ci" \
    "Run what continuous integration runs: the steps of \`test\` except the link in network namespaces, a short fuzzing \
run, and samples of the planted faults and of the hardware tests."
word long "" "run_suite long" \
    "Run the slow checks: every test in the release profile, the packed crate's tests, valgrind, Miri, yanked crates, ten \
minutes of fuzzing per target, and the constant-time trace of all schedules."
word emulate "" "run_suite emulate" "Test every x86 backend, and backend detection, on emulated CPUs."
word aarch64 "" "run_suite aarch64" \
    "Test every Arm backend, and backend detection, on emulated CPUs; check the machine code, guard pages and branches of \
their kernels."
word trace "" "run_suite trace" \
    "Compare the instructions that each backend of this CPU executes with different secrets: all sizes and schedules."

STEPS=() # titles, in the order of the table
declare -A SUITES=() NEEDS=() AREAS=() RUNS=() AREA=() DISCARD=()

trim() {
    local text=$1
    text=${text#"${text%%[![:space:]]*}"}
    printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# read_table: parses steps.table, whose lines are `area NAME GLOB...`, `discard STEP: FOLDER...` and
# `STEP | SUITES | NEEDS | AREAS | COMMAND`.
read_table() {
    local line title suites needs areas command
    while IFS= read -r line; do
        case $line in
            '' | '#'*) ;;
            'area '*)
                read -r _ title areas <<<"$line"
                AREA[$title]=$areas
                ;;
            'discard '*)
                title=$(trim "${line#discard }")
                DISCARD[${title%: *}]=${title##*: }
                ;;
            *)
                IFS='|' read -r title suites needs areas command <<<"$line"
                title=$(trim "$title")
                STEPS+=("$title")
                SUITES[$title]=" $(trim "$suites") "
                NEEDS[$title]=$(trim "$needs")
                AREAS[$title]=$(trim "$areas")
                RUNS[$title]=$(trim "$command")
                ;;
        esac
    done <"$TABLE"
}

# ---- which steps run

# in_area PATH AREA: whether a glob of the area matches the path.
in_area() {
    local glob globs
    read -ra globs <<<"${AREA[$2]}"
    for glob in "${globs[@]}"; do
        # shellcheck disable=SC2053  # The right-hand side is a glob.
        [[ $1 == $glob ]] && return
    done
    return 1
}

declare -A TOUCHED=()

# touch_areas PATH...: adds the areas of these paths to TOUCHED. A path in no area belongs to `everything`.
touch_areas() {
    local path area known
    for path in "$@"; do
        known=
        for area in "${!AREA[@]}"; do
            in_area "$path" "$area" || continue
            TOUCHED[$area]=1
            known=1
        done
        [[ -n $known ]] || TOUCHED[everything]=1
    done
}

# affected TITLE: whether the step belongs to a touched area.
affected() {
    local area
    for area in everything ${AREAS[$1]}; do
        [[ -z ${TOUCHED[$area]:-} ]] || return 0
    done
    return 1
}

# changed_since REV: prints the files that differ from a commit, including untracked files.
changed_since() {
    git rev-parse --quiet --verify "$1^{commit}" >"$NOTES/commit" || {
        echo "./dev: \`$1\` is not a commit of this repository" >&2
        return 2
    }
    git diff --name-only "$1"
    git ls-files --others --exclude-standard
}

# ---- steps

DONE=() # "CPU WALL TITLE" of each step that ran

# cpu_seconds: writes the CPU seconds of all commands so far to $NOTES/cpu.
cpu_seconds() {
    # A subshell would report only its own times.
    times >"$NOTES/times"
    awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%.1f", 60 * (u[1] + s[1]) + u[2] + s[2] }' \
        "$NOTES/times" >"$NOTES/cpu"
}

# step TITLE COMMAND...: prints a heading, runs the command, and records its cost. Exits if the command fails.
step() {
    local title=$1 start=$SECONDS status=0 before
    shift
    cpu_seconds
    before=$(<"$NOTES/cpu")
    printf '\n== %s\n' "$title"
    # A subshell, because `set -e` has no effect on the left of `||`.
    set +e
    (set -e; "$@")
    status=$?
    set -e
    cpu_seconds
    DONE+=("$(awk -v a="$before" -v b="$(<"$NOTES/cpu")" 'BEGIN { printf "%.1f", b - a }') $((SECONDS - start)) $title")
    if ((status != 0)); then
        report_costs
        printf '\nfailed: %s (exit status %d)\n' "$title" "$status" >&2
        exit 1
    fi
    printf -- '-- %s: %d s\n' "$title" $((SECONDS - start))
}

# discard TITLE: removes the folders of the target folder that no later step of CI reads. A CI machine's disk is small.
discard() {
    local folder
    for folder in ${DISCARD[$1]:-}; do
        rm -rf "${TARGET:?}/$folder"
    done
}

# skip WHAT WHY: records that a check cannot run here. In CI, that is a failure.
skip() {
    printf 'SKIPPED: %s: %s\n' "$1" "$2"
    printf '%s: %s\n' "$1" "$2" >>"$SKIPPED"
    if [[ -n ${CI:-} ]]; then
        echo "failed: with CI set, no check may be skipped" >&2
        return 1
    fi
}

report_costs() {
    printf '\n%-52s %7s %7s %6s\n' step "wall s" "CPU s" share
    printf '%s\n' "${DONE[@]}" | sort -rn | awk '
        { cpu[NR] = $1; wall[NR] = $2; sub(/^[^ ]* [^ ]* /, ""); title[NR] = $0; all += cpu[NR]; walls += wall[NR] }
        END {
            for (i = 1; i <= NR; i++)
                printf "%-52s %7d %7.0f %4.0f %%\n", title[i], wall[i], cpu[i], all ? 100 * cpu[i] / all : 0
            printf "%-52s %7d %7.0f\n", "total", walls, all
        }'
    printf 'on %s, %d CPUs, load %s\n' "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)" \
        "$(nproc)" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    printf 'free disk space: %s\n' "$(df -h --output=avail "$TARGET" | tail -1 | tr -d ' ')"
}

# set_seed: derives the seed of the sampled checks from the commit, unless SEALCOMB_SEED is set.
set_seed() {
    local commit
    commit=$(git rev-parse --short=8 HEAD 2>/dev/null) || commit=$(date +%s)
    export SEALCOMB_SEED=${SEALCOMB_SEED:-$((16#${commit:0:8}))}
    echo "seed of the sampled checks: SEALCOMB_SEED=$SEALCOMB_SEED"
}

# run_suite SUITE [--since REV] [--plan] [--only TEXT]
run_suite() {
    local suite=$1 since='' plan='' only='' title need missing paths=() wanted=() needs=()
    shift
    while (($#)); do
        case $1 in
            --since) since=${2:?a commit} && shift ;;
            --only) only=${2:?a part of the name of a step} && shift ;;
            --plan) plan=1 ;;
            *)
                echo "./dev $suite: unknown option \`$1\`; \`./dev help\` lists the options of suites" >&2
                exit 2
                ;;
        esac
        shift
    done
    read_table
    if [[ -n $since ]]; then
        changed_since "$since" >"$NOTES/changed" || exit 2
        mapfile -t paths <"$NOTES/changed"
        touch_areas "${paths[@]}"
    fi
    for title in "${STEPS[@]}"; do
        [[ ${SUITES[$title]} == *" $suite "* && ${title,,} == *"${only,,}"* ]] || continue
        [[ -z $since ]] || affected "$title" || continue
        wanted+=("$title")
        read -ra missing <<<"${NEEDS[$title]}"
        needs+=("${missing[@]}")
    done
    : >"$SKIPPED"
    [[ -n $plan ]] || step "set-up" setup_for "${needs[@]}"
    find_missing "$plan" "${needs[@]}"
    set_seed
    for title in "${wanted[@]}"; do
        missing=()
        for need in ${NEEDS[$title]}; do
            [[ -z ${MISSING[$need]:-} ]] || missing+=("$need")
        done
        if ((${#missing[@]})); then
            skip "$title" "needs ${missing[*]}" || exit 1
        elif [[ -n $plan ]]; then
            echo "$title"
        else
            # shellcheck disable=SC2086  # A command and its arguments.
            step "$title" ${RUNS[$title]}
            [[ $suite != ci || -z ${CI:-} || -n $only ]] || discard "$title"
        fi
    done
    [[ -z $plan ]] || return 0
    report_costs
    if [[ $suite == ci ]]; then
        printf 'seconds allowed in CI: %d of wall time\n' "$CI_SECONDS"
    fi
    if [[ -s $SKIPPED ]]; then
        printf '\nskipped:\n'
        sed 's/^/  /' "$SKIPPED"
    fi
    case $suite in
        test | ci) printf '\nall checks passed\n' ;;
        *) printf '\nall checks of %s passed\n' "$suite" ;;
    esac
}
