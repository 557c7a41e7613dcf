// How every transaction begins. Nothing of it is left to the settings of the role, the database or the
// server: the isolation, the schema, and time limits on the server. Values.
//
// Without a time limit on the server, a statement that waits for a lock keeps its session there after this
// side has given up, one for each attempt. All settings end with their transaction, so they work behind a
// pooler, too.

internal import Formats

/// The time limits of a transaction on the server, shorter than those of this side.
struct PostgresLimits {
  /// For a lock; zero for none.
  var lock: Duration
  /// For a statement; zero for none.
  var statement: Duration
  /// For this program to send the next statement.
  var idle: Duration

  /// Of one statement or a few, sent together.
  static func within(_ time: Duration) -> PostgresLimits {
    let statement = max(time * 9 / 10, .milliseconds(100))
    return PostgresLimits(lock: min(statement, .seconds(3)), statement: statement, idle: .seconds(10))
  }
}

/// A transaction as it begins.
enum PostgresBegin: Equatable {
  case writing
  case reading
  /// All statements see the same moment.
  case snapshot

  /// READ COMMITTED is what the locks of a batch need: a statement after them must see what they waited for.
  /// Whether a server accepts writes is left to its administrator (`default_transaction_read_only`).
  fileprivate var sql: String {
    switch self {
    case .writing: "BEGIN ISOLATION LEVEL READ COMMITTED"
    case .reading: "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
    case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    }
  }
}

extension PostgresSource {
  /// The statements that begin a transaction.
  /// - Parameter settings: others, as expressions.
  func beginning(
    _ begin: PostgresBegin, _ limits: PostgresLimits, _ settings: [String] = []
  ) -> [PostgresCommand] {
    let times = [
      ("lock_timeout", limits.lock), ("statement_timeout", limits.statement),
      ("idle_in_transaction_session_timeout", limits.idle),
    ].map { name, time in "set_config('\(name)', '\(time.milliseconds)ms', true)" }
    var values: [PostgresValue] = []
    var path: [String] = []
    if let schema {
      path = ["set_config('search_path', $1, true)"]
      values = [.text(schema)]
    }
    let list = (times + path + settings).joined(separator: ", ")
    return [PostgresCommand(begin.sql), PostgresCommand("SELECT \(list)", values)]
  }

  /// Runs statements in one transaction, in one round trip. After an error there is none.
  @discardableResult
  func run(
    _ connection: PostgresConnection, _ begin: PostgresBegin, _ commands: [PostgresCommand],
    _ limits: PostgresLimits? = nil, _ settings: [String] = []
  ) throws(PostgresError) -> [PostgresResult] {
    let before = beginning(begin, limits ?? .within(connection.timeLimit), settings)
    do throws(PostgresError) {
      let results = try connection.runTogether(before + commands + [PostgresCommand("COMMIT")])
      return Array(results.dropFirst(before.count).dropLast())
    } catch {
      Self.rollBack(connection)
      throw error
    }
  }

  /// Ends a transaction that failed. If that fails, too, the connection is closed, and the server does it.
  static func rollBack(_ connection: PostgresConnection) {
    guard connection.isOpen, connection.isInTransaction else { return }
    let usual = connection.timeLimit
    connection.timeLimit = .seconds(1)
    do throws(PostgresError) { try connection.run("ROLLBACK") } catch { connection.close() }
    connection.timeLimit = usual
  }
}
