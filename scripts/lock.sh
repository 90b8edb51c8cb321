#!/bin/sh
# Write requirements/*.txt from pyproject.toml: exact versions with hashes, for every platform and release we support.
# The later files are bound to the versions of the earlier ones, so that a package has one version wherever it is used
# together. The files carry no addresses: where packages come from is the affair of the machine that installs them.
# With --keep, what is locked stays as it is, and only what pyproject.toml names anew is chosen.
set -eu

upgrade=--upgrade
[ "${1:-}" != --keep ] || upgrade=

cd "$(dirname -- "$0")/.."
command -v uv >/dev/null || {
    echo "lock: uv is needed to choose versions, though not to install them; it is one program, see its own site" >&2
    exit 1
}

lock() {
    output=$1
    shift
    uv pip compile --quiet $upgrade --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
        --output-file "requirements/$output.txt" "$@"
}

# Sources, of which nothing but the sources is wanted: the hash of each archive, and none of a wheel.
lock_sdists() {
    found=$(mktemp)
    [ -n "$upgrade" ] || set -- "$@" --constraint requirements/sdists.txt
    uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-deps --no-binary :all: \
        --format pylock.toml "$@" >"$found"
    awk -F '"' '
        /^name = / { name = $2 }
        /^version = / { version = $2 }
        /^sdist = / && match($0, /sha256 = "[0-9a-f]+"/) {
            printf "%s==%s \\\n    --hash=sha256:%s\n", name, version, substr($0, RSTART + 10, 64)
        }' "$found" >requirements/sdists.txt
    rm -- "$found"
}

lock runtime pyproject.toml --extra zmq --extra mcp --extra tui
lock dev pyproject.toml --extra zmq --extra mcp --extra tui --group dev --constraint requirements/runtime.txt
lock mcp-before --group mcp-before
lock agents --group agents
lock jupyter-mcp --group jupyter-mcp
lock ipybox --group ipybox
lock ipython --group ipython
lock data --group data --constraint requirements/ipython.txt
lock heavy --group heavy --constraint requirements/data.txt
lock kishu --group kishu --constraint requirements/heavy.txt
lock state --group state --constraint requirements/heavy.txt
lock catalogue --group catalogue
lock jupyter --group jupyter --constraint requirements/dev.txt
lock notebooks --group notebooks --constraint requirements/jupyter.txt
lock_sdists --group sdists --constraint requirements/notebooks.txt
lock enterprise --group enterprise
# The build of torch without CUDA has to be offered by the machine: name its folder or page in UV_FIND_LINKS here, and
# in pip's own find-links where it is installed. Without it, the tests of torch are skipped and say so.
lock torch --group torch --no-deps

# The MCP clients from npm that tests use: their exact versions are chosen in tests/node/package.json.
command -v npm >/dev/null || {
    echo "lock: npm is needed to lock tests/node" >&2
    exit 1
}
npm install --prefix tests/node --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --loglevel=error
