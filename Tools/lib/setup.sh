# setup.sh — what the commands in Tools need before they can start. Sourced, not run.
#
# Each need_… function returns at once when nothing is missing, and otherwise installs it or ends
# the command with status 2 and a line that says what to do.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=$root/.tools/venv
# Warnings are errors; Package.swift says why they are none for who uses the package.
export TIDEMARK_STRICT=1

# give_up LINE... — ends the command with status 2.
give_up() {
    printf '%s\n' "$@" >&2
    exit 2
}

# step NAME COMMAND... — runs the command and says how many seconds it took.
step() {
    local name=$1 began=$SECONDS status=0
    shift
    echo "== $name"
    "$@" || status=$?
    if [ "$status" = 0 ]; then
        echo "== $name: done, $((SECONDS - began)) s"
    else
        echo "== $name: FAILED with status $status, $((SECONDS - began)) s" >&2
    fi
    return "$status"
}

# build ARGUMENT... — `swift build`, with its progress only where a person can watch it. In continuous
# integration nobody debugs what is built.
build() {
    [ -z "${CI:-}" ] || set -- -debug-info-format none "$@"
    if [ -t 1 ]; then swift build "$@"; else swift build --quiet "$@"; fi
}

# build_here FOLDER ARGUMENT... — builds the package in a folder of the repository, and prints where
# its programs are; all else that is said goes to standard error. The caller stays where it is.
build_here() (
    cd "$root/$1" || exit
    shift
    step "build" build "$@" >&2 || exit
    local kind=()
    [ "$1" != -c ] || kind=("$1" "$2")
    swift build "${kind[@]}" --show-bin-path
)

# The programs that tests run.
programs=(tidemark-cli crash-child instruction-probe readme-example own-tool toggl-server todo)

# build_tests ARGUMENT... — builds the tests. By name: a build of everything also builds the programs
# of plugins of the packages that are used, of which nothing here uses one. The compiler of protobuf
# alone is 293 files of C++, and is built twice.
build_tests() { build --product tidemarkPackageTests "$@"; }

# build_programs ARGUMENT... — builds the programs that tests run.
build_programs() {
    local program
    for program in "${programs[@]}"; do build --product "$program" "$@" || return; done
    name_tool "$(swift build --show-bin-path)"
}

# name_tool FOLDER — gives the tool that is built there the name it goes by.
name_tool() { ln -sf tidemark-cli "$1/tidemark"; }

need_swift() {
    command -v swift >/dev/null && return
    give_up "There is no 'swift' on the PATH. Tidemark needs Swift 6.3 or newer:" \
        "install it as https://www.swift.org/install says, open a new shell and try again."
}

# need_packages NAME... — Debian packages; of 'a|b', two names of one thing, either will do.
need_packages() {
    local wanted missing=() names=()
    for wanted in "$@"; do
        package_is_installed "$wanted" || missing+=("$wanted")
    done
    [ ${#missing[@]} = 0 ] && return
    command -v apt-get >/dev/null ||
        give_up "There is no apt-get here. Install these, then try again: ${missing[*]}"

    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        as_root=(sudo -n)
        sudo -n true 2>/dev/null || give_up \
            "Some system packages are missing, and only root may install them. Type this, then try again:" \
            "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]%%|*}"
    fi
    echo "== system packages: ${missing[*]}"
    quietly "${as_root[@]}" apt-get update -q || give_up "'apt-get update' failed."
    for wanted in "${missing[@]}"; do
        names+=("$(installable_name "$wanted")")
    done
    quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends -o DPkg::Lock::Timeout=120 "${names[@]}" ||
        give_up "'apt-get install ${names[*]}' failed."
}

package_is_installed() {
    local name
    for name in ${1//|/ }; do
        dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed && return
    done
    return 1
}

# installable_name A|B — the first of them that this system's archive has.
installable_name() {
    local name
    for name in ${1//|/ }; do
        [ -n "$(apt-cache show --no-all-versions "$name" 2>/dev/null)" ] && break
    done
    echo "$name"
}

# need_python — a private virtual environment in .tools/venv with what requirements.txt pins.
need_python() (
    local requirements=$root/Tools/lib/requirements.txt
    mkdir -p "$root/.tools"
    exec 9>"$root/.tools/lock"
    flock 9 # two commands may start at once
    if cmp -s "$requirements" "$venv/installed.txt" && "$venv/bin/python" -c 'import lmdb, zstandard'; then
        exit
    fi
    echo "== Python packages into .tools/venv"
    rm -rf "$venv"
    quietly python3 -m venv "$venv" &&
        quietly "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
            --requirement "$requirements" &&
        cp "$requirements" "$venv/installed.txt" ||
        give_up "The Python packages of Tools/lib/requirements.txt could not be installed."
)

# free_port PORT — prints PORT, or for 0 a free one; gives up when something listens there.
free_port() {
    local port
    port=$(python3 - "$1" 2>&1 <<'PYTHON'
import socket, sys
probe = socket.socket()
probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
probe.bind(("127.0.0.1", int(sys.argv[1])))
print(probe.getsockname()[1])
PYTHON
    ) || give_up "${port##*$'\n'}" "Is it a port number that nothing listens on? 0 takes a free one."
    echo "$port"
}

# quietly COMMAND... — shows what the command printed only when it fails.
quietly() {
    local printed
    printed=$("$@" 2>&1 </dev/null) && return
    printf '%s\n' "$printed" >&2
    return 1
}

# tied COMMAND... — runs the command in place of this shell and ends it when the shell's parent ends,
# however that comes about.
tied() {
    if command -v setpriv >/dev/null; then
        exec setpriv --pdeathsig TERM "$@"
    fi
    exec "$@"
}
