// Opens a connection: one attempt after the other, each with a time limit. libpq's own limit does not hold
// for PQconnectPoll (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-PQCONNECTSTARTPARAMS), and
// with several hosts it never leaves a silent one.

internal import CPostgreSQL
internal import Formats
internal import Platform

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
