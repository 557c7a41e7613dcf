// PostgreSQL's errors in the terms of the store. Pure.

internal import Store

extension StoreFault {
  init(_ error: PostgresError) {
    // division_by_zero: a statement that must change one row did not.
    guard error.state != "22012" else {
      self = .rowChanged(error.operation)
      return
    }
    let code = error.state.map { " (SQLSTATE \($0))" } ?? ""
    self.init(Kind(error.kind), operation: error.operation, reason: error.reason + code)
  }
}

extension StoreFault.Kind {
  init(_ kind: PostgresError.Kind) {
    self =
      switch kind {
      case .noLibrary, .invalidSettings, .notAllowed: .notPermitted
      case .cannotConnect, .exhausted: .unreachable
      case .connectionLost, .unknownOutcome: .unavailable
      case .inputOutput: .inputOutput
      case .conflict: .conflict
      case .timedOut: .busy
      case .full: .full
      case .readOnly: .standby
      case .constraint: .constraint
      case .corrupt: .corrupt
      case .misuse: .misuse
      }
  }
}

/// Runs `body` and converts its error.
func translated<Result>(_ body: () throws(PostgresError) -> Result) throws(StoreFault) -> Result {
  do throws(PostgresError) {
    return try body()
  } catch {
    throw StoreFault(error)
  }
}
