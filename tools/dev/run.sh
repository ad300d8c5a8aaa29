# shellcheck shell=bash
# Runs the steps of a suite in the order of steps.table, then prints the cost of each step.

readonly TABLE=tools/dev/steps.table
# No part of a suite begins after this many seconds. CI is stopped after 90 minutes.
readonly CI_SECONDS=${SEALCOMB_CI_SECONDS:-3300}
readonly SKIPPED=$NOTES/skipped

word test "[--since REV]" "run_suite test" \
    "Install what is missing and run every check except the hardware tests. The last line is \`all checks passed\`."
word ci "" "run_suite ci" \
    "Run what continuous integration runs: the steps of \`test\` except the link in network namespaces, a short fuzzing \
run, and samples of the planted faults and of the hardware tests. Parts for which $((CI_SECONDS / 60)) minutes do not \
suffice are left to the next commit, which draws another order."
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
declare -A SUITES=() NEEDS=() AREAS=() RUNS=() AREA=()
declare -A DISCARD=() # ";STEP;STEP;": the steps that use these folders

trim() {
    local text=$1
    text=${text#"${text%%[![:space:]]*}"}
    printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# read_table: parses steps.table, whose lines are `area NAME GLOB...`, `discard FOLDER...: STEP; STEP...` and
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
                areas=${title#*: }
                DISCARD[${title%%: *}]=";${areas//; /;};"
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

DONE=()   # "CPU WALL TITLE" of each step that ran
FAILED=() # titles of the steps that failed

# cpu_seconds: writes the CPU seconds of all commands so far to $NOTES/cpu.
cpu_seconds() {
    # A subshell would report only its own times.
    times >"$NOTES/times"
    awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%.1f", 60 * (u[1] + s[1]) + u[2] + s[2] }' \
        "$NOTES/times" >"$NOTES/cpu"
}

# step TITLE COMMAND...: prints a heading, runs the command, and records its cost and whether it failed.
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
        FAILED+=("$title")
        printf 'failed: %s (exit status %d)\n' "$title" "$status" >&2
        # The user has interrupted the command: end the run, too.
        ((status != 130)) || exit 130
        return
    fi
    printf -- '-- %s: %d s\n' "$title" $((SECONDS - start))
}

# discard TITLE: ends a step of CI: removes the folders of the target folder that only this step and finished steps use.
# A CI machine's disk is small.
discard() {
    local folders folder
    for folders in "${!DISCARD[@]}"; do
        [[ ${DISCARD[$folders]} == *";$1;"* ]] || continue
        DISCARD[$folders]=${DISCARD[$folders]/";$1;"/;}
        [[ ${DISCARD[$folders]} == ";" ]] || continue
        for folder in $folders; do
            rm -rf "${TARGET:?}/$folder"
        done
    done
}

# skip WHAT WHY: records that a check cannot run here. In CI, this fails.
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

# ---- suites

PARTS=() # the parts of the suite, in the order in which they run
LEFT=()  # the parts for which no time was left

# in_suite TITLE SUITE: whether the step belongs to the suite, or to its part if SUITE is `SUITE:PART`.
in_suite() { [[ ${SUITES[$1]} == *" $2 "* ]]; }

# find_parts SUITE: sets PARTS. The seed draws the order.
find_parts() {
    local title word here there
    PARTS=()
    for title in "${STEPS[@]}"; do
        for word in ${SUITES[$title]}; do
            [[ $word != "$1:"* || " ${PARTS[*]} " == *" ${word#*:} "* ]] || PARTS+=("${word#*:}")
        done
    done
    RANDOM=$((SEALCOMB_SEED % 32768))
    for ((here = ${#PARTS[@]} - 1; here > 0; here--)); do
        there=$((RANDOM % (here + 1)))
        word=${PARTS[here]}
        PARTS[here]=${PARTS[there]}
        PARTS[there]=$word
    done
}

# run_suite SUITE [--since REV] [--plan] [--only TEXT]
run_suite() {
    local suite=$1 since='' plan='' only='' found='' title part titles paths=() missing=() needs=()
    local -A wanted=() # titles of each part; those of no part are under the suite's name
    shift
    while (($#)); do
        case $1 in
            --since | --only)
                if (($# == 1)); then
                    echo "./dev $suite: option \`$1\` lacks its value; \`./dev help\` lists the options of suites" >&2
                    exit 2
                fi
                if [[ $1 == --since ]]; then since=$2; else only=$2; fi
                shift
                ;;
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
    set_seed
    find_parts "$suite"
    for part in "$suite" "${PARTS[@]/#/$suite:}"; do
        for title in "${STEPS[@]}"; do
            in_suite "$title" "$part" || continue
            [[ ${title,,} == *"${only,,}"* ]] || continue
            found=1
            [[ -z $since ]] || affected "$title" || continue
            wanted[$part]+="$title"$'\n'
            read -ra missing <<<"${NEEDS[$title]//\?/}"
            needs+=("${missing[@]}")
        done
    done
    if [[ -z $found ]]; then
        echo "./dev $suite: no step has \`$only\` in its name; \`./dev $suite --plan\` lists the steps" >&2
        exit 2
    fi
    : >"$SKIPPED"
    if [[ -z $plan ]]; then
        step "set-up" setup_for "${needs[@]}"
        ((${#FAILED[@]} == 0)) || conclude "$suite"
    fi
    find_missing "$plan" "${needs[@]}"
    for part in "$suite" "${PARTS[@]/#/$suite:}"; do
        [[ -n ${wanted[$part]:-} ]] || continue
        if [[ $part == *:* && -z $plan$only ]] && ((SECONDS >= CI_SECONDS)); then
            LEFT+=("${part#*:}")
            continue
        fi
        mapfile -t titles <<<"${wanted[$part]%$'\n'}"
        for title in "${titles[@]}"; do
            run_step "$title" "$plan"
            [[ $suite != ci || -z ${CI:-} || -n $only ]] || discard "$title"
        done
    done
    [[ -n $plan ]] || conclude "$suite"
}

# run_step TITLE PLAN: runs the step, prints its title if there is a PLAN, or skips it if a prerequisite is missing.
run_step() {
    local need missing=()
    for need in ${NEEDS[$1]}; do
        [[ -z ${MISSING[$need]:-} || $need == '?'* ]] || missing+=("$need")
    done
    if ((${#missing[@]})); then
        skip "$1" "needs ${missing[*]}" || FAILED+=("$1")
    elif [[ -n $2 ]]; then
        echo "$1"
    else
        # shellcheck disable=SC2086  # A command and its arguments.
        step "$1" ${RUNS[$1]}
    fi
}

# conclude SUITE: prints what the suite cost, what it left out and what failed. Exits.
conclude() {
    report_costs
    if ((${#LEFT[@]})); then
        printf '\nnot begun after %d seconds, left to another commit: %s\n' "$CI_SECONDS" "${LEFT[*]}"
    fi
    if [[ -s $SKIPPED ]]; then
        printf '\nskipped:\n'
        sed 's/^/  /' "$SKIPPED"
    fi
    if ((${#FAILED[@]})); then
        printf '\nfailed:\n'
        printf '  %s\n' "${FAILED[@]}"
        exit 1
    fi
    case $1 in
        test | ci) printf '\nall checks passed\n' ;;
        *) printf '\nall checks of %s passed\n' "$1" ;;
    esac
    exit 0
}
