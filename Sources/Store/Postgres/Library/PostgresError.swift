// The errors of libpq and the server, classified in one place. They contain no parameter and no stored value.

/// A failed use of PostgreSQL.
public struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What a caller can do about the error.
  public enum Kind: String, Sendable {
    /// libpq cannot be loaded.
    case noLibrary
    /// The settings, or those of the database, cannot be used.
    case invalidSettings
    /// No host accepted the connection. Try again later.
    case cannotConnect
    /// The server does not accept this user or password, has no such database, or does not allow the
    /// operation.
    case notAllowed
    /// The connection has ended, or the server did not answer in time. Whether a transaction whose COMMIT was
    /// sent is stored is not known.
    case connectionLost
    /// A transaction was committed, but possibly not on the standby: a failover can lose it.
    case unknownOutcome
    /// The statement conflicts with another transaction; run the whole transaction again.
    case conflict
    /// A lock was not released in time, or the server's time limit for a statement ended it.
    case timedOut
    /// No space left on the server's disk.
    case full
    /// The server has no memory left, or no connection.
    case exhausted
    /// The server is a standby, or the transaction only reads.
    case readOnly
    case constraint
    /// The server found damaged data.
    case corrupt
    /// The server's operating system failed to read or write.
    case inputOutput
    /// A fault in this program's SQL, or in its use of this library.
    case misuse
  }

  public let kind: Kind
  /// The server's SQLSTATE, five letters and digits
  /// (https://www.postgresql.org/docs/15/errcodes-appendix.html); nil for an error that no server reported.
  public let state: String?
  /// The first word of the statement, or what else was done.
  public let operation: String
  /// What happened, in one line.
  public let reason: String

  public init(_ kind: Kind, state: String? = nil, operation: String, reason: String) {
    self.kind = kind
    self.state = state
    self.operation = operation
    self.reason = reason
  }

  public var description: String {
    state.map { "\(operation): \(reason) (SQLSTATE \($0))" } ?? "\(operation): \(reason)"
  }

  /// The error of a failed statement.
  /// - Parameters:
  ///   - endsSession: whether the server reported it as FATAL or PANIC.
  ///   - message: the server's primary message.
  ///   - constraint: the constraint that a row violates.
  init(state: String, endsSession: Bool, message: String, constraint: String?, operation: String) {
    let kind = endsSession ? .connectionLost : Self.kind(of: state)
    let reason: String =
      switch kind {
      case .constraint: "a row violates \(constraint ?? "a constraint")"
      case .conflict: "it conflicts with another transaction"
      default: Self.quotesNoData(state) ? Self.firstLine(message) : "the server refused it"
      }
    self.init(kind, state: state, operation: operation, reason: reason)
  }

  static func firstLine(_ message: String) -> String {
    String(message.prefix { !$0.isNewline })
  }

  /// Whether messages with this SQLSTATE name only objects of the schema, settings and the system. The
  /// messages of other classes quote values; that of a syntax error quotes the statement.
  private static func quotesNoData(_ state: String) -> Bool {
    switch state {
    // undefined_column, undefined_function, insufficient_privilege.
    case "42703", "42883", "42501": true
    default: ["08", "25", "28", "3D", "53", "55", "57", "58", "XX"].contains(state.prefix(2))
    }
  }

  /// The kind of an error after which the session continues.
  static func kind(of state: String) -> Kind {
    switch state {
    // serialization_failure, deadlock_detected.
    case "40001", "40P01": .conflict
    // statement_completion_unknown.
    case "40003": .unknownOutcome
    // query_canceled, lock_not_available.
    case "57014", "55P03": .timedOut
    // cannot_connect_now.
    case "57P03": .cannotConnect
    // invalid_catalog_name: there is no such database. insufficient_privilege.
    case "3D000", "42501": .notAllowed
    case "53100": .full
    // read_only_sql_transaction.
    case "25006": .readOnly
    // data_corrupted, index_corrupted.
    case "XX001", "XX002": .corrupt
    default:
      switch state.prefix(2) {
      case "23": .constraint
      case "28": .notAllowed
      case "53": .exhausted
      case "58": .inputOutput
      default: .misuse
      }
    }
  }
}
