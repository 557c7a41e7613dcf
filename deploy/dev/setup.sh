# Shared by the demo and the development run: configuration, processes, requests. Sourced by them, from the
# repository's top folder, under `set -eu`. Everything stays on 127.0.0.1 and under var/, which git ignores.
# shellcheck shell=sh

bin=${RECEIPT_RELAY_BIN:-.build/release}
app='demo'
client_key='development-client-key'
webhook_secret='whsec_development_only'
price='price_demo_monthly'
# Of no certificate: the demo has no app.
fingerprint='00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF'
# Where the links of the app lead; empty for the daemon's own address.
origin=''
destination=''
daemon=''
# Process ids of other stand-ins.
stand_ins=''
# Further sections of the app, as JSON5.
more_of_app=''

receiptctl() { "$bin/receiptctl" --config "$config" "$@"; }

# A function's name has no hyphen (POSIX.1-2024, XCU 2.9.5); print_command shows the program's.
receipt_sandbox() { "$bin/receipt-sandbox" --config "$config" "$@"; }

# Commands and what they print go to this descriptor: here, or to the log of `tell_story`.
exec 3>&1
details=''

# tell_story [--verbose]: shows `chapter`, `say` and `outcome` only; the details are in a log, unless --verbose or VERBOSE
# wants them here.
tell_story() {
  case ${1:-} in
    '') ;;
    --verbose) return ;;
    *) echo "usage: $0 [--verbose]" >&2; exit 64 ;;
  esac
  [ -z "${VERBOSE:-}" ] || return 0
  details=$folder/commands.log
  exec 3>"$details"
}

chapter() {
  [ -z "$details" ] || printf '\n%s\n' "$*" >&3
  if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi
}

say() {
  if [ -z "$details" ]; then chapter "$@"; else printf '  %s\n' "$*" && printf '\n%s\n' "$*" >&3; fi
}

# outcome TEXT: what the step before has shown, in a line.
outcome() { printf '    %s\n' "$*"; }

# Prints a command as the user would type it.
print_command() {
  {
    printf '  $'
    for word in "$@"; do
      case $word in
        receipt_sandbox) printf ' receipt-sandbox' ;;
        *[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
      esac
    done
    printf '\n'
  } >&3
}

# Shows a command and runs it.
show() {
  print_command "$@"
  "$@" >&3 2>&3 || fail "this command failed: $*"
}

# ask URL [OPTION…]: shows and makes one request. Sets answer.
ask() {
  print_command curl "$@"
  answer=$(curl -fsS --max-time 40 "$@") || fail "the request was refused"
  printf '%s\n' "$answer" >&3
}

fail() {
  printf '%s\n' "$*" >&2
  for log in "$details" "$folder"/receiptd*.log; do
    [ ! -s "$log" ] || tail -n 20 "$log" >&2
  done
  exit 1
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# make_folder PATH: a fresh folder that only its owner may look into, for the database, logs and configuration.
make_folder() {
  folder=$1
  config=$folder/receiptd.json5
  umask 077
  rm -rf "$folder"
  mkdir -p "$folder"
  database=$(cd "$folder" && pwd)/receiptd.db
}

write_configuration() {
  cat >"$config" <<END
// Written by deploy/dev. The secrets protect nothing: everything listens on this machine only.
{
  listen: { port: $port },
  admin: { port: $admin_port },
  database: "$database",
  apps: {
    $app: {
      client: { keys: ["$client_key"] },
      stripe: { webhook_secrets: ["$webhook_secret"] },
      purchasely: { url: "http://127.0.0.1:$destination_port/receipts", api_key: "development-api-key" },
      join: { wait_for_context: "2s" },
      delivery: { retry: { schedule: ["500ms", "1s", "2s"] } },
      $more_of_app
      links: {
        origin: "${origin:-http://127.0.0.1:$port}",
        ios: { app_ids: ["ABCDE12345.com.example.demo"], scheme: "demoapp", paths: ["/*"] },
        android: { packages: [{ name: "com.example.demo", sha256_cert_fingerprints: ["$fingerprint"] }] },
        checkout: { "$price": "https://buy.stripe.com/test_demo" },
        return: { name: "Demo", ios_store: "https://apps.apple.com/app/id0" },
      },
    },
  },
}
END
}

# wait_for NAME COMMAND…: runs the command until it succeeds, for ten seconds.
wait_for() {
  name=$1
  shift
  attempts=0
  until "$@" >/dev/null 2>&1; do
    attempts=$((attempts + 1))
    [ "$attempts" -lt 100 ] || fail "$name did not come up within ten seconds; see $folder"
    sleep 0.1
  done
}

is_listening() { python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)' "$1"; }

# start_destination [OPTION…]: options of `receipt-sandbox destination`.
start_destination() {
  "$bin/receipt-sandbox" destination --port "$destination_port" "$@" \
    >>"$folder/destination.log" 2>&1 &
  destination=$!
  wait_for 'the stand-in destination' is_listening "$destination_port"
}

# start_stand_in NAME PORT [OPTION…]: another stand-in, which runs until the end.
start_stand_in() {
  name=$1
  listening_port=$2
  shift 2
  "$bin/receipt-sandbox" "$name" --port "$listening_port" "$@" >>"$folder/$name.log" 2>&1 &
  stand_ins="$stand_ins $!"
  wait_for "the stand-in $name" is_listening "$listening_port"
}

stop_stand_ins() {
  for process in $stand_ins; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  stand_ins=''
}

stop_destination() {
  [ -n "$destination" ] || return 0
  kill "$destination" 2>/dev/null || true
  wait "$destination" 2>/dev/null || true
  destination=''
}

start_daemon() {
  "$bin/receiptd" --config "$config" >>"$folder/receiptd.log" 2>&1 &
  daemon=$!
  wait_for receiptd curl -fsS "http://127.0.0.1:$admin_port/readyz"
}

stop_daemon() {
  [ -n "$daemon" ] || return 0
  kill "$daemon" 2>/dev/null || true
  wait "$daemon" 2>/dev/null || true
  daemon=''
}

# Leaves nothing running, however the script ends.
stop_all_at_exit() {
  trap 'stop_daemon; stop_destination; stop_stand_ins' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# A context as from the app's SDK: base64 of a small JSON object.
ply_context() {
  printf '{"presentation_id":"pres_demo","placement_id":"onboarding","stripe_price_id":"%s",%s}' "$price" \
    '"stripe_object_type":"subscription","original_platform":"IOS"' | base64 | tr -d '\n'
}

# read_page URL: shows the text of a page, one line for each paragraph, and the addresses of its links. Sets answer to it.
read_page() {
  print_command curl "$1"
  answer=$(curl -fsS --max-time 40 -H 'Accept-Language: en' "$1" | python3 -c '
import html.parser, sys

class Reader(html.parser.HTMLParser):
    skipped = ("head", "style")

    def __init__(self):
        super().__init__()
        self.inside = []

    def handle_starttag(self, tag, attributes):
        self.inside.append(tag)
        if tag == "a":
            self.address = dict(attributes)["href"]

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, text):
        if text.strip() and not set(self.skipped) & set(self.inside):
            link = " -> " + self.address if "a" in self.inside else ""
            print("  | " + text.strip() + link)

Reader().feed(sys.stdin.read())
') || fail "the page was not there"
  printf '%s\n' "$answer" >&3
}

# field NAME: the value of a text field of the JSON object on stdin, empty when it has none.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1]) or "")' "$1"; }
