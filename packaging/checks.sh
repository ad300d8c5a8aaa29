# shellcheck shell=bash
# Functions for the scripts that `packaging/copy.sh` runs, which finds this file as /tmp/checks.

fail() {
    echo "packages: $1" >&2
    exit 1
}

# prints PATTERN COMMAND...: whether the command succeeds and prints a line with the pattern. In a pipe, it could fail
# because grep ends first.
prints() {
    local output
    output=$("${@:2}") && grep -q -- "$1" <<<"$output"
}

# files_of PACKAGE: the files and links that the package installs.
files_of() { dpkg --listfiles "$1" | while read -r path; do [[ -d $path ]] || echo "$path"; done; }
