#!/bin/sh
# Print the newest Python that can run Pisces (3.11 or later), or say why there is none.
# PISCES_PYTHON, a path or a command name, is the only candidate when it is set.
set -eu

usable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 </dev/null
}

say() {
    printf 'pisces: %s\n' "$1" >&2
}

if [ -n "${PISCES_PYTHON:-}" ]; then
    set -- "$PISCES_PYTHON"
else
    set -- python3.13 python3.12 python3.11 python3 python
fi

found=
for name in "$@"; do
    path=$(command -v -- "$name") || continue
    if usable "$path"; then
        printf '%s\n' "$path"
        exit 0
    fi
    version=$("$path" --version 2>&1 </dev/null) || version="it does not run"
    found="$found $path ($version)"
done

if [ -n "${PISCES_PYTHON:-}" ]; then
    say "PISCES_PYTHON is '$PISCES_PYTHON', which is not a working Python 3.11 or later.${found:+ Found:$found.}"
    say "Set it to one that is, or unset it."
elif [ -n "$found" ]; then
    say "Python 3.11 or later is needed. Found:$found."
    say "Install a newer Python, or name one: PISCES_PYTHON=/path/to/python3 ./pisces"
else
    say "Python 3.11 or later is needed, and there is no python3 on PATH."
    say "Install it (Debian, Ubuntu: apt install python3 python3-venv), or name one: PISCES_PYTHON=/path/to/python3 ./pisces"
fi
exit 1
