# serve.sh — what the commands share that run a real server until they are ended. Sourced after
# setup.sh: makes a temporary folder, $scratch, which is gone when the server stops.

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidemark-$(basename "$0").XXXXXX")
# What is shown where the server fails.
logs=("$scratch/log")
server=
clean_up() {
    trap - EXIT INT TERM HUP
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 0' INT TERM HUP

failed() {
    tail -n 20 "${logs[@]}" >&2 2>/dev/null || true
    echo "$1" >&2
    exit 1
}

# run_server COMMAND... — starts the server; what it says is in $scratch/log.
run_server() {
    (tied "$@" >"$scratch/log" 2>&1 </dev/null) &
    server=$!
}

# await_server NAME ARGUMENT... — waits until curl gets an answer with these arguments.
await_server() {
    local name=$1 began=$SECONDS
    shift
    until curl --silent --output "$scratch/answer" --max-time 60 "$@"; do
        kill -0 "$server" 2>/dev/null || failed "$name ended before it was ready."
        [ $((SECONDS - began)) -lt 600 ] || failed "$name was not ready after 600 s."
        sleep 0.1
    done
}

# serve NAME URL EXAMPLE — says that the server is ready, and waits until it ends.
serve() {
    local status=0
    echo "READY $2"
    echo "Try: curl $3"
    echo "Stop it with Control-C, or from elsewhere: kill $$"
    wait "$server" || status=$?
    failed "$1 ended by itself with status $status."
}
