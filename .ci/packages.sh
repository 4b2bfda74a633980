# Sourced: installs Debian packages where they are missing, or leaves with exit code 77 and the reason.
# The reason is then the last line of what is printed, and all of $SKIPPED, a file, where that is set.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
root=()

# skip WHAT WHY
skip() {
    printf '%s: %s\n' "$1" "$2"
    [[ -z ${SKIPPED:-} ]] || printf '%s\n' "$2" >"$SKIPPED"
    exit 77
}

# Runs a command of apt, as root; skips with its first error where it fails.
# apt WHAT SECONDS COMMAND...
apt() {
    local what=$1 seconds=$2
    shift 2
    timeout "$seconds" "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=1 \
        -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 -o DPkg::Lock::Timeout=60 "$@" >"$log" 2>&1
    local rc=$?
    ((rc)) || return 0
    cat "$log"
    ((rc != 124)) || skip "$what" "apt-get $1 took longer than $seconds s"
    skip "$what" "apt-get $1 failed: $(grep -m1 '^E:' "$log" || echo "exit $rc")"
}

# ready WHAT WHY: apt's lists are new; WHAT is skipped without them
ready() {
    command -v apt-get >/dev/null || skip "$1" "$2, and there is no apt-get"
    if ((EUID)); then
        sudo -n true 2>/dev/null || skip "$1" "$2, and installing it needs root"
        root=(sudo -n)
    fi
    apt "$1" 300 update
}

# installed WHAT WHY PACKAGE...
installed() {
    ready "$1" "$2"
    apt "$1" 900 install -y --no-install-recommends "${@:3}"
}
