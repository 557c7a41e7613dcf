# A private PostgreSQL server with a synchronous standby, from Debian's package, for scripts that need one. Sourced by
# them, after setup.sh. Both servers are in one temporary folder and have no port: they listen on sockets there, and only
# the user that they run as and root may enter it.
# shellcheck shell=bash

server_folder=''
# Process ids of the postmasters, by the names of their folders.
declare -A servers=()
server_user=()

# prepare_servers: finds the programs and makes the folder.
prepare_servers() {
  programs=$(find /usr/lib/postgresql -maxdepth 3 -path '*/bin/initdb' 2>/dev/null | sort -Vr | sed -n '1s,/initdb$,,p')
  [ -n "$programs" ] || fail 'There is no PostgreSQL server here: deploy/dev/deps server'
  server_folder=$(mktemp -d /tmp/receipt-relay.XXXXXX)
  # The server refuses to run as root.
  if [ "$(id -u)" -eq 0 ]; then
    server_user=(setpriv --reuid=postgres --regid=postgres --init-groups --)
    chown postgres: "$server_folder"
  fi
}

# in_server COMMAND…: runs a program of PostgreSQL as the servers' user, in their folder.
in_server() { (cd "$server_folder" && "${server_user[@]}" "$@"); }

# server_port NAME: the last part of its socket's name.
server_port() { if [ "$1" = primary ]; then echo 5432; else echo 5433; fi; }

# sql NAME STATEMENT: prints the rows.
sql() {
  in_server "$programs/psql" -X -q -A -t -h "$server_folder" -p "$(server_port "$1")" -U receiptd -d postgres -c "$2"
}

accepts() { in_server "$programs/pg_isready" -q -h "$server_folder" -p "$(server_port "$1")"; }

# start_server NAME: starts the server of this folder.
start_server() {
  # The subshell becomes the server, so its process id is the server's.
  (
    cd "$server_folder"
    exec "${server_user[@]}" "$programs/postgres" -D "$1" -p "$(server_port "$1")" -k "$server_folder"
  ) >>"$folder/$1.log" 2>&1 </dev/null &
  servers[$1]=$!
  wait_for "PostgreSQL ($1)" accepts "$1"
}

# make_primary [SETTING…]: makes a server and starts it; the settings are lines of postgresql.conf.
make_primary() {
  in_server "$programs/initdb" -N -A trust -U receiptd -E UTF8 --locale=C.UTF-8 -D primary >"$folder/initdb.log" 2>&1 ||
    fail "initdb failed; see $folder/initdb.log"
  printf '%s\n' "listen_addresses=''" 'shared_buffers=32MB' 'max_wal_senders=4' "$@" |
    in_server tee -a primary/postgresql.conf >/dev/null
  start_server primary
}

is_synchronous() { [ "$(sql primary "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ]; }

# make_standby: copies the primary, and lets each of its commits wait for the copy.
make_standby() {
  in_server "$programs/pg_basebackup" -D standby -R -c fast -X stream \
    -d "host=$server_folder port=$(server_port primary) user=receiptd application_name=standby" \
    >"$folder/basebackup.log" 2>&1 || fail "pg_basebackup failed; see $folder/basebackup.log"
  start_server standby
  sql primary "ALTER SYSTEM SET synchronous_standby_names = 'standby'"
  sql primary 'SELECT pg_reload_conf()' >/dev/null
  wait_for 'the standby' is_synchronous
}

# kill_server NAME: kills every process of a server with SIGKILL, as a machine that loses its power does.
kill_server() {
  local server=${servers[$1]} parts
  parts=$(pgrep -P "$server" || true)
  # shellcheck disable=SC2086 # a list of process ids
  kill -9 "$server" $parts 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  unset "servers[$1]"
}

# promote_standby: makes the standby the primary; it accepts writes when this returns.
promote_standby() { in_server "$programs/pg_ctl" -D standby -w -t 60 promote >>"$folder/standby.log" 2>&1; }

# stop_servers: ends the servers and removes their folder.
stop_servers() {
  local server
  for server in "${servers[@]}"; do
    kill -QUIT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  servers=()
  [ -z "$server_folder" ] || rm -rf "$server_folder"
  server_folder=''
}

# database_url NAME: of this database, for receiptd; both servers, of which it uses the one that accepts writes.
database_url() {
  local host=${server_folder//\//%2F}
  printf 'postgres://receiptd@%s:%s,%s:%s/%s?target_session_attrs=read-write' \
    "$host" "$(server_port primary)" "$host" "$(server_port standby)" "$1"
}
