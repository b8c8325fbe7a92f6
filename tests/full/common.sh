# Sourced by scripts of checks, in the root of the repository.

# skip REASON: ends a check that cannot run here. `tests/full/run` counts it as a failure.
skip() {
    echo "cannot run: $*" >&2
    exit 77
}

# planted PATTERN COMMAND…: the command must fail because of a planted fault, and print what `grep` finds with the pattern.
planted() {
    local pattern=$1 printed
    shift
    if printed=$("$@" 2>&1); then
        printf '%s\nthe planted fault was not found\n' "$printed" >&2
        exit 1
    fi
    if ! grep -q -e "$pattern" <<<"$printed"; then
        printf '%s\nthe check failed, but does not name the planted fault: %s\n' "$printed" "$pattern" >&2
        exit 1
    fi
    echo "the planted fault was found"
}
