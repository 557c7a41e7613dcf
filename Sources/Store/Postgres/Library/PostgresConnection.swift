// One connection to PostgreSQL. Its owner uses it from one thread at a time.

internal import CPostgreSQL
internal import Platform

/// A connection (https://www.postgresql.org/docs/15/libpq.html), opened with `open`.
///
/// Owns the `PGconn *`. It is always in libpq's pipeline mode: several statements are sent together and cost
/// one network round trip. Each call has its own time limit, because a silent server or proxy is
/// otherwise not noticed for minutes. Statements have no name, so it works behind a pooler in transaction
/// mode.
@safe public final class PostgresConnection {
  private var handle: OpaquePointer?
  private let notices: PostgresNotices
  private let isEncrypted: Bool
  /// The time limit of each call; afterwards the connection is closed, because its state is not known.
  public var timeLimit: Duration
  /// How many times this connection has waited for the server.
  public private(set) var roundTrips = 0
  /// How many statements were sent.
  public private(set) var statements = 0

  /// - Parameter notices: the receiver of the handle's notices.
  init(_ handle: OpaquePointer, notices: PostgresNotices, timeLimit: Duration) {
    unsafe self.handle = handle
    self.notices = notices
    self.timeLimit = timeLimit
    isEncrypted = unsafe cpg_PQsslInUse(handle) == 1
  }

  deinit { close() }

  /// Whether the connection can be used. False after `close` and after every `connectionLost`.
  public var isOpen: Bool { unsafe handle != nil }

  /// Whether the server has an open transaction of this connection, also a failed one.
  public var isInTransaction: Bool {
    guard let handle = unsafe handle else { return false }
    let status = unsafe cpg_PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// The server's version, such as 150018 for 15.18; 0 when the connection is closed.
  public var serverVersion: Int { unsafe handle.map { unsafe Int(cpg_PQserverVersion($0)) } ?? 0 }

  /// Closes the connection. The server rolls back an open transaction, but first completes what was sent to
  /// it, also a COMMIT.
  public func close() {
    guard let handle = unsafe handle else { return }
    unsafe self.handle = nil
    unsafe cpg_PQfinish(handle)
  }

  /// Runs one statement.
  @discardableResult
  public func run(_ sql: String, _ values: [PostgresValue] = []) throws(PostgresError) -> PostgresResult {
    try runTogether([PostgresCommand(sql, values)])[0]
  }

  /// Sends several statements together and waits for all results: one round trip. Outside a transaction they
  /// are one transaction.
  /// - Returns: a result for each statement.
  /// - Throws: the error of the first statement that failed; the server skips those after it. In a
  ///   transaction only a rollback is possible then. A COMMIT of a failed transaction is an error, too, and
  ///   so is one that may not have reached the standby.
  @discardableResult
  public func runTogether(_ commands: [PostgresCommand]) throws(PostgresError) -> [PostgresResult] {
    guard let last = commands.last else { return [] }
    guard let handle = unsafe handle else { throw Self.closed(last.operation) }
    roundTrips += 1
    statements += commands.count
    let deadline = MonotonicInstant.now() + timeLimit
    for command in commands { try unsafe send(command, handle) }
    guard unsafe cpg_PQpipelineSync(handle) == 1 else { throw lost("send") }
    var results: [PostgresResult] = []
    results.reserveCapacity(commands.count)
    var failure: PostgresError?
    do throws(PostgresError) {
      for command in commands {
        switch unsafe try outcome(of: command, handle, until: deadline) {
        case .success(let result): results.append(result)
        case .failure(let error): failure = failure ?? error
        }
      }
      if let error = unsafe try errorAtSync(handle, last, until: deadline) { failure = failure ?? error }
    } catch {
      // What failed before the loss is certain.
      throw failure ?? error
    }
    if let failure { throw failure }
    return results
  }

  /// Returns the notifications of the channels that this connection listens to (LISTEN), as soon as there is
  /// one, or none after `time`.
  public func notifications(within time: Duration) throws(PostgresError) -> [PostgresNotification] {
    guard let handle = unsafe handle else { throw Self.closed("wait for notifications") }
    let deadline = MonotonicInstant.now() + time
    while true {
      // Results of other calls may have brought some with them.
      let found = unsafe PostgresNotification.received(handle)
      guard found.isEmpty else { return found }
      let isReady = unsafe PostgresSocket.wait(
        cpg_PQsocket(handle), reading: true, writing: false, until: deadline)
      guard isReady else { return [] }
      guard unsafe receive(handle) else { throw lost("wait for notifications") }
      // Reads the messages that have arrived.
      _ = unsafe cpg_PQisBusy(handle)
      if notices.end != nil { throw lost("wait for notifications") }
    }
  }

  private func send(_ command: PostgresCommand, _ handle: OpaquePointer) throws(PostgresError) {
    let count = command.values.count
    // The protocol counts parameters in 16 bits.
    guard count <= Int(UInt16.max), !command.sql.utf8.contains(0) else {
      close()
      throw PostgresError(.misuse, operation: command.operation, reason: "too many parameters, or a NUL")
    }
    let encoded = EncodedValues(command.values)
    let formats = [Int32](repeating: 1, count: count)
    let isSent = unsafe encoded.block.withUnsafeBytes { block in
      let values = unsafe encoded.starts.map { start in
        unsafe start.flatMap {
          unsafe block.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self)
        }
      }
      return unsafe cpg_PQsendQueryParams(
        handle, command.sql, Int32(count), encoded.types, values, encoded.lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost(command.operation) }
  }
}

extension PostgresConnection {
  /// The result of the next statement of the pipeline.
  private func outcome(
    of command: PostgresCommand, _ handle: OpaquePointer, until deadline: MonotonicInstant
  ) throws(PostgresError) -> Result<PostgresResult, PostgresError> {
    notices.warnings = []
    guard let result = unsafe try nextResult(handle, command, until: deadline) else {
      throw lost(command.operation)
    }
    let outcome = unsafe try read(result, command)
    // After the results of a statement comes a null pointer.
    while let more = unsafe try nextResult(handle, command, until: deadline) { unsafe cpg_PQclear(more) }
    return outcome
  }

  /// Acquires the ownership of a result.
  private func read(
    _ result: OpaquePointer, _ command: PostgresCommand
  ) throws(PostgresError) -> Result<PostgresResult, PostgresError> {
    func refused(_ reason: String) -> Result<PostgresResult, PostgresError> {
      .failure(PostgresError(.misuse, operation: command.operation, reason: reason))
    }
    switch unsafe cpg_PQresultStatus(result) {
    case PGRES_TUPLES_OK:
      return Result { () throws(PostgresError) in try unsafe PostgresResult(result, of: command) }
    case PGRES_COMMAND_OK:
      if let error = unsafe commitError(result, command) {
        unsafe cpg_PQclear(result)
        return .failure(error)
      }
      return Result { () throws(PostgresError) in try unsafe PostgresResult(result, of: command) }
    case PGRES_PIPELINE_ABORTED:
      unsafe cpg_PQclear(result)
      return refused("an earlier statement failed")
    case PGRES_EMPTY_QUERY:
      unsafe cpg_PQclear(result)
      return refused("the statement is empty")
    case PGRES_FATAL_ERROR:
      defer { unsafe cpg_PQclear(result) }
      let error = unsafe error(of: result, command)
      guard error.kind == .connectionLost else { return .failure(error) }
      close()
      throw error
    default:
      // COPY has results without an end.
      unsafe cpg_PQclear(result)
      close()
      throw PostgresError(.misuse, operation: command.operation, reason: "the statement has no plain result")
    }
  }

  /// COMMIT succeeds also when it rolls back a failed transaction
  /// (https://www.postgresql.org/docs/15/sql-commit.html), and, with a warning, when its wait for the standby
  /// was ended.
  private func commitError(_ result: OpaquePointer, _ command: PostgresCommand) -> PostgresError? {
    guard command.operation.uppercased() == "COMMIT" else { return nil }
    guard unsafe String(cString: cpg_PQcmdStatus(result)) == "COMMIT" else {
      return PostgresError(
        .misuse, operation: command.operation, reason: "the transaction had failed and was rolled back")
    }
    guard let warning = notices.warnings.first else { return nil }
    // no_active_sql_transaction.
    return warning == "25P01"
      ? PostgresError(
        .misuse, state: warning, operation: command.operation, reason: "there is no transaction")
      : PostgresError(
        .unknownOutcome, state: warning, operation: command.operation,
        reason: "the server ended its wait for the standby")
  }

  private func error(of result: OpaquePointer, _ command: PostgresCommand) -> PostgresError {
    func field(_ code: Unicode.Scalar) -> String? { unsafe PostgresNotices.field(code, of: result) }
    // PG_DIAG_SQLSTATE; libpq's own errors, such as a lost connection, have none.
    guard let state = field("C") else { return lost(command.operation) }
    // PG_DIAG_SEVERITY_NONLOCALIZED, PG_DIAG_MESSAGE_PRIMARY, PG_DIAG_CONSTRAINT_NAME.
    let severity = field("V") ?? "ERROR"
    return PostgresError(
      state: state, endsSession: severity != "ERROR", message: field("M") ?? "", constraint: field("n"),
      operation: command.operation)
  }

  /// Reads the end of the pipeline. Outside a transaction the statements are committed there, which can fail.
  private func errorAtSync(
    _ handle: OpaquePointer, _ command: PostgresCommand, until deadline: MonotonicInstant
  ) throws(PostgresError) -> PostgresError? {
    var failure: PostgresError?
    var isFirst = true
    while true {
      guard let result = unsafe try nextResult(handle, command, until: deadline) else {
        // A null pointer follows an error, and nothing else before the end.
        guard isFirst || failure != nil else { throw lost(command.operation) }
        isFirst = false
        continue
      }
      defer { unsafe cpg_PQclear(result) }
      switch unsafe cpg_PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC: return failure
      case PGRES_FATAL_ERROR:
        let error = unsafe error(of: result, command)
        guard error.kind != .connectionLost else {
          close()
          throw error
        }
        failure = failure ?? error
      default: throw lost(command.operation)
      }
      isFirst = false
    }
  }

  /// The next result of libpq, sending and receiving as needed; nil between the results of two statements.
  private func nextResult(
    _ handle: OpaquePointer, _ command: PostgresCommand, until deadline: MonotonicInstant
  ) throws(PostgresError) -> OpaquePointer? {
    while unsafe cpg_PQisBusy(handle) == 1 {
      let unsent = unsafe cpg_PQflush(handle)
      var hasFailed = unsent < 0
      if !hasFailed {
        // OpenSSL may hold the rest of a record, for which poll(2) would wait in vain.
        if isEncrypted, unsafe receive(handle), unsafe cpg_PQisBusy(handle) == 0 { break }
        let isReady = unsafe PostgresSocket.wait(
          cpg_PQsocket(handle), reading: true, writing: unsent == 1, until: deadline)
        guard isReady else { throw lost(command.operation, "no answer within \(timeLimit)") }
        hasFailed = unsafe !receive(handle)
      }
      // What was read before the loss may contain its reason.
      if hasFailed, unsafe cpg_PQisBusy(handle) == 1 { throw lost(command.operation) }
    }
    return unsafe cpg_PQgetResult(handle)
  }

  /// Reads what has arrived.
  /// - Returns: false if the connection has failed.
  private func receive(_ handle: OpaquePointer) -> Bool {
    // One call reads at least 8 KiB, and a TLS record has 16 KiB at most (RFC 8446 section 5.1).
    for _ in 0..<(isEncrypted ? 3 : 1) {
      guard unsafe cpg_PQconsumeInput(handle) == 1 else { return false }
    }
    return true
  }

  /// Closes the connection.
  /// - Parameter reason: nil for libpq's description.
  private func lost(_ operation: String, _ reason: String? = nil) -> PostgresError {
    let known = unsafe handle.map { handle in
      unsafe PostgresError.firstLine(String(cString: cpg_PQerrorMessage(handle)))
    }
    close()
    if let end = notices.end {
      return PostgresError(.connectionLost, state: end.state, operation: operation, reason: end.reason)
    }
    let text = reason ?? known.flatMap { $0.isEmpty ? nil : $0 } ?? "the connection ended"
    return PostgresError(.connectionLost, operation: operation, reason: text)
  }

  private static func closed(_ operation: String) -> PostgresError {
    PostgresError(.connectionLost, operation: operation, reason: "the connection is closed")
  }
}

// MARK: - Opening

// Opens a connection: one attempt after the other, each with a time limit. libpq's own limit does not hold
// for PQconnectPoll (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-PQCONNECTSTARTPARAMS), and
// with several hosts it never leaves a silent one.

extension PostgresConnection {
  /// Connects to the first host that accepts, in the order of the settings.
  /// - Parameters:
  ///   - timeLimit: for each later call, until it is changed.
  ///   - application: the name that the server's views show, unless the settings have one.
  ///   - time: the time limit of all attempts together, apart from the system's resolver of names.
  /// - Throws: `cannotConnect`, `notAllowed` or `exhausted`, with each attempt and its reason.
  public static func open(
    _ settings: PostgresSettings, timeLimit: Duration, application: String,
    within time: Duration = .seconds(60)
  ) throws(PostgresError) -> PostgresConnection {
    let end = MonotonicInstant.now() + time
    var failures: [PostgresError] = []
    for host in settings.hosts {
      for host in try attempts(host, &failures) where failures.isEmpty || MonotonicInstant.now() < end {
        do throws(PostgresError) {
          let deadline = min(end, .now() + settings.connectTime)
          return try open(settings, host, timeLimit: timeLimit, application: application, until: deadline)
        } catch {
          // The database's encoding is the same on every host.
          guard error.kind != .invalidSettings else { throw error }
          failures.append(error)
        }
      }
    }
    let kinds = Set(failures.map(\.kind))
    throw PostgresError(
      kinds.count == 1 ? failures[0].kind : .cannotConnect,
      state: failures.count == 1 ? failures[0].state : nil,
      operation: "connect", reason: failures.map(\.reason).joined(separator: "; "))
  }

  /// One attempt for each address of a host.
  private static func attempts(
    _ host: PostgresSettings.Host, _ failures: inout [PostgresError]
  ) throws(PostgresError) -> [PostgresSettings.Host] {
    guard host.address == nil, let name = host.name, !name.hasPrefix("/"), !name.hasPrefix("@") else {
      return [host]
    }
    switch HostAddresses.resolve(name) {
    case .failure(let failure):
      let reason = "the host \(name) cannot be resolved: \(failure.reason)"
      failures.append(PostgresError(.cannotConnect, operation: "connect", reason: reason))
      return []
    case .success(let addresses):
      return addresses.map { address in
        var host = host
        // The name stays, for the server's certificate.
        host.address = address
        return host
      }
    }
  }

  private static func open(
    _ settings: PostgresSettings, _ host: PostgresSettings.Host, timeLimit: Duration, application: String,
    until deadline: MonotonicInstant
  ) throws(PostgresError) -> PostgresConnection {
    var options = settings.options(for: host)
    options["fallback_application_name"] = application
    guard let handle = unsafe start(options) else {
      throw PostgresError(.exhausted, operation: "connect", reason: "no memory")
    }
    let notices = PostgresNotices()
    // Without a receiver, libpq prints the server's notices.
    unsafe cpg_PQsetNoticeReceiver(
      handle,
      { context, result in
        guard let context = unsafe context, let result = unsafe result else { return }
        unsafe Unmanaged<PostgresNotices>.fromOpaque(context).takeUnretainedValue().note(result)
      }, Unmanaged.passUnretained(notices).toOpaque())
    // The messages of failed attempts then contain the SQLSTATE.
    unsafe cpg_PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    do throws(PostgresError) {
      try unsafe finishConnecting(handle, host, until: deadline)
    } catch {
      unsafe cpg_PQfinish(handle)
      throw error
    }
    return unsafe PostgresConnection(handle, notices: notices, timeLimit: timeLimit)
  }

  /// - Returns: nil without memory.
  private static func start(_ options: [String: String]) -> OpaquePointer? {
    let list = options.sorted { $0.key < $1.key }
    var block: [CChar] = []
    var starts: [Int] = []
    for text in list.flatMap({ [$0.key, $0.value] }) {
      starts.append(block.count)
      block += text.utf8.map(CChar.init(bitPattern:)) + [0]
    }
    return unsafe block.withUnsafeBufferPointer { block in
      var words: [UnsafePointer<CChar>?] = unsafe []
      var values: [UnsafePointer<CChar>?] = unsafe []
      for index in list.indices {
        unsafe words.append(block.baseAddress.map { unsafe $0 + starts[2 * index] })
        unsafe values.append(block.baseAddress.map { unsafe $0 + starts[2 * index + 1] })
      }
      unsafe words.append(nil)
      unsafe values.append(nil)
      return unsafe cpg_PQconnectStartParams(words, values, 0)
    }
  }

  private static func finishConnecting(
    _ handle: OpaquePointer, _ host: PostgresSettings.Host, until deadline: MonotonicInstant
  ) throws(PostgresError) {
    guard unsafe cpg_PQstatus(handle) != CONNECTION_BAD else { throw unsafe failure(of: handle) }
    // "Behave as if PQconnectPoll last returned PGRES_POLLING_WRITING."
    var wanted = PGRES_POLLING_WRITING
    while wanted != PGRES_POLLING_OK {
      guard wanted != PGRES_POLLING_FAILED else { throw unsafe failure(of: handle) }
      // The socket may be another one after each call.
      let isReady = PostgresSocket.wait(
        unsafe cpg_PQsocket(handle), reading: wanted == PGRES_POLLING_READING,
        writing: wanted == PGRES_POLLING_WRITING, until: deadline)
      guard isReady else {
        let place = host.address ?? host.name ?? "the default host"
        throw PostgresError(
          .cannotConnect, operation: "connect", reason: "\(place), port \(host.port), does not answer")
      }
      wanted = unsafe cpg_PQconnectPoll(handle)
    }
    let encoding = unsafe cpg_PQparameterStatus(handle, "server_encoding").map { unsafe String(cString: $0) }
    guard encoding == "UTF8" else {
      throw PostgresError(
        .invalidSettings, operation: "connect",
        reason: "the database's encoding is \(encoding ?? "not known"); create it with ENCODING 'UTF8'")
    }
    guard unsafe cpg_PQsetnonblocking(handle, 1) == 0, unsafe cpg_PQenterPipelineMode(handle) == 1 else {
      throw PostgresError(.exhausted, operation: "connect", reason: "no memory")
    }
  }

  /// Each attempt is a line such as "connection to server at … failed: FATAL:  28P01: …"; with sslmode=prefer
  /// there may be two. Further lines are advice.
  private static func failure(of handle: OpaquePointer) -> PostgresError {
    let lines = unsafe String(cString: cpg_PQerrorMessage(handle)).split(separator: "\n").map(String.init)
    let failed = lines.filter { $0.contains(" failed: ") }
    let reason = failed.isEmpty ? lines.first ?? "no reason" : failed.joined(separator: "; ")
    let words = failed.last?.split(separator: " ") ?? []
    let state = words.firstIndex(of: "FATAL:").flatMap { index in
      words[(index + 1)...].first.flatMap { $0.count == 6 && $0.hasSuffix(":") ? String($0.dropLast()) : nil }
    }
    let kind = state.map(PostgresError.kind) ?? .cannotConnect
    let isKnown = kind == .notAllowed || kind == .exhausted
    return PostgresError(isKnown ? kind : .cannotConnect, state: state, operation: "connect", reason: reason)
  }
}
