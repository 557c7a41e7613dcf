// A private PostgreSQL server for tests, in a temporary folder. Thread-safe.

internal import Glibc
internal import Platform
public import PostgresStore
internal import Synchronization

/// A running server (postgres(1)): on a socket in its folder, and with TLS on a port of 127.0.0.1. It ends
/// with its owner, also when the tests are killed.
public final class PostgresServer: Sendable {
  /// The folder of the server's data, its log `log`, its certificate `server.crt`, and its socket.
  public let folder: String
  /// Of 127.0.0.1; it is also a part of the socket's name.
  public let port: UInt16
  private let running: Monitor<Running>
  private let databases = Atomic(0)

  private struct Running: @unchecked Sendable {
    var program: PipedProcess
    var port: ReservedPort
  }

  /// Started when a test first needs it; every such test has databases of its own in it. It does not sync:
  /// tests of durability start their own.
  public static let shared = Result { () throws(Failure) in
    try PostgresServer(["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"])
  }

  /// Why the server was not started, or did not do what it was asked for.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// Whether the tests that need a server run. With POSTGRESQL_REQUIRED=1 they do in any case, and fail where
  /// none can be started.
  public static let isExpected = unsafe getenv("POSTGRESQL_REQUIRED") != nil || isInstalled

  /// For `.enabled(if:)`, where PostgreSQL is missing.
  public static let missing = "there is no PostgreSQL server here: apt-get install postgresql"

  private static let isInstalled = (try? ShellRun(["sh", "-c", findPrograms]).code) == 0

  /// Debian does not put the server's programs into PATH.
  private static let findPrograms = """
    for programs in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr) \
      $(pg_config --bindir 2>/dev/null)
    do
      [ -x "$programs/initdb" ] && [ -x "$programs/postgres" ] && found=1 && break
    done
    [ -n "${found:-}" ]
    """

  /// Prints the folder, then `ready`, and a line for each command. Ends when its input does; signals for the
  /// whole group of the tests do not end it before.
  ///
  /// The locale is not C, so that an index or an order that depends on the locale shows up.
  private static let script = """
    set -eu
    trap '' INT TERM HUP
    \(findPrograms)
    folder=$(mktemp -d /tmp/relay-postgres.XXXXXX)
    echo "$folder"
    cd "$folder"
    locale='--locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US'
    "$programs/initdb" --help | grep -q icu-locale || locale=--locale=C.UTF-8
    "$programs/initdb" -N -A trust -U receiptd -E UTF8 $locale -D data >log 2>&1 </dev/null ||
      { cat log; exit 1; }
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
      -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt >>log 2>&1
    for setting in "$@"; do printf '%s\\n' "$setting" >>data/postgresql.conf; done
    "$programs/pg_ctl" -D data -l log -w -t 240 start >>log 2>&1 </dev/null || {
      cat log
      "$programs/pg_ctl" -D data -m immediate stop >/dev/null 2>&1 || :
      exit 1
    }
    echo ready
    while read -r words; do
      code=0
      eval "$words" >>log 2>&1 </dev/null || code=$?
      echo "done $code"
    done
    "$programs/pg_ctl" -D data -m immediate -w stop >>log 2>&1 </dev/null || :
    cd /
    rm -rf "$folder"
    # Nobody reads it if the tests have ended.
    echo ended 2>/dev/null || :
    """

  /// Where the server sees its small disk, on which it can have a tablespace.
  public static let smallDisk = "/mnt"

  /// Starts a server, and returns when it accepts connections.
  /// - Parameters:
  ///   - settings: lines of postgresql.conf.
  ///   - smallDisk: the size of a disk in memory that only this server sees, in MiB; nil for none. Needs
  ///     root.
  public init(_ settings: [String] = [], smallDisk: Int? = nil) throws(Failure) {
    do {
      let reserved = try ReservedPort()
      let always = [
        "listen_addresses='127.0.0.1'", "port=\(reserved.number)", "unix_socket_directories='..'",
        "shared_buffers=32MB", "log_min_messages=fatal", "ssl=on", "ssl_cert_file='../server.crt'",
        "ssl_key_file='../server.key'",
      ]
      // The server refuses to run as root.
      let asUser =
        geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] : []
      let withDisk = smallDisk.map { size in
        let mount = "mount -t tmpfs -o size=\(size)m,mode=0777 tmpfs \(Self.smallDisk) && exec \"$@\""
        return ["unshare", "--mount", "sh", "-c", mount, "sh"]
      }
      let program = try PipedProcess(
        (withDisk ?? []) + asUser + ["sh", "-c", Self.script, "sh"] + always + settings)
      guard let folder = program.line(), folder.hasPrefix("/"), program.line() == "ready" else {
        throw Failure(description: "PostgreSQL did not start: \(program.printed)")
      }
      self.folder = folder
      port = reserved.number
      running = Monitor(Running(program: program, port: reserved))
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: "PostgreSQL did not start: \(error)")
    }
  }

  deinit {
    // The owner of a process kills it; it must have ended its server before.
    running.withLock { running in
      running.program.endInput()
      while let line = running.program.line(), line != "ended" {}
    }
  }

  /// The URL of a database, by its socket.
  /// - Parameter options: further parameters, as `name=value`.
  public func url(_ database: String, _ options: [String] = []) -> String {
    let folder = folder.replacing("/", with: "%2F")
    let tail = options.isEmpty ? "" : "?" + options.joined(separator: "&")
    return "postgres://receiptd@\(folder):\(port)/\(database)\(tail)"
  }

  /// Connects to a database.
  public func connect(_ database: String = "postgres") throws(PostgresError) -> PostgresConnection {
    try .open(PostgresSettings(url(database)), timeLimit: .seconds(60), application: "tests")
  }

  /// Creates a database.
  /// - Parameter template: the database to copy.
  /// - Returns: its name.
  public func makeDatabase(from template: String = "template0") throws(PostgresError) -> String {
    let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
    try connect().run("CREATE DATABASE \(name) TEMPLATE \(template)")
    return name
  }

  public func dropDatabase(_ name: String) throws(PostgresError) {
    try connect().run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
  }

  /// Runs words of the shell as the server's user, in its folder, and waits for their end. The variable
  /// `programs` names the folder of pg_ctl(1). The output is added to `log`.
  public func run(_ words: String) throws(Failure) {
    let answer = running.withLock { running in
      running.program.feed(Array((words + "\n").utf8))
      return running.program.line()
    }
    guard answer == "done 0" else { throw Failure(description: "\(words): \(answer ?? "no answer")") }
  }

  /// Stops the server: `smart`, `fast` or `immediate` (pg_ctl(1)).
  public func stop(_ mode: String) throws(Failure) {
    try run("\"$programs/pg_ctl\" -D data -m \(mode) -w stop")
  }

  /// Starts it again, and returns when it accepts connections.
  public func start() throws(Failure) { try run("\"$programs/pg_ctl\" -D data -l log -w -t 240 start") }

  /// Kills every process of the server with SIGKILL, and returns when they have ended.
  public func kill() throws(Failure) {
    try run(
      """
      server=$(head -n 1 data/postmaster.pid); all="$server $(pgrep -P "$server" | tr '\\n' ' ')"; \
      kill -9 $all; for process in $all; do tail --pid="$process" -f /dev/null; done
      """)
  }
}
