#!/usr/bin/env bash
# Loads the demo graph into Virtuoso through its SQL port; safe to run again.
set -euo pipefail

server="${VIRTUOSO_SERVER:-virtuoso:1111}"
password="${DBA_PASSWORD:-dba}"
folder="${DATA_FOLDER:-/data}"
here="$(cd "$(dirname "$0")" && pwd)"

run() {
  "${ISQL:-isql}" "$server" dba "$password" VERBOSE=OFF BANNER=OFF PROMPT=OFF "$@"
}

# isql ends with 0 after an SQL error too, so what was loaded is asked for.
run "$here/load.sql" -i "$folder"
found="$(run "$here/loaded.sql" | tr -s '[:space:]' ' ')"
case "$found" in
  " 1 NULL "* | "1 NULL"*) echo "The demo graph is loaded." ;;
  *)
    echo "The demo graph could not be loaded: $found" >&2
    exit 1
    ;;
esac
