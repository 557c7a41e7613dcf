// Answers one request. Thread-safe; nothing here blocks.

internal import Synchronization

/// Answers one request, once, from any thread, at any time.
///
/// A request whose responder is dropped without an answer is answered as `Rejection.abandoned`, so no request
/// waits for ever.
public final class Responder: Sendable {
  private let connection: ClientConnection
  private let serial: UInt64
  private let isUsed = Atomic<Bool>(false)

  init(connection: ClientConnection, serial: UInt64) {
    self.connection = connection
    self.serial = serial
  }

  /// Answers the request. Later calls, and a call for a disconnected client, do nothing.
  public func respond(_ response: Response) { respond { response } }

  /// Answers with a response that the sending thread makes, which spreads the work of answering many
  /// requests. `response` is not called for a disconnected client.
  public func respond(making response: @escaping @Sendable () -> Response) {
    guard !isUsed.exchange(true, ordering: .relaxed) else { return }
    connection.answer(serial, response)
  }

  /// Closes the connection instead of answering, as a server that crashes does: for stand-ins and tests.
  /// Later calls, and a call for a disconnected client, do nothing.
  /// - Parameters:
  ///   - response: sent before the end, without its last bytes; nil sends nothing. Under TLS nothing is sent.
  ///   - missingBytes: how much of its body is missing, after a head that announces all of it.
  public func disconnect(sending response: Response? = nil, missingBytes: Int = 0) {
    guard !isUsed.exchange(true, ordering: .relaxed) else { return }
    let bytes = response.map { RawAnswer.bytes($0, isHead: false).dropLast(max(missingBytes, 0)) }
    connection.disconnect(serial, Array(bytes ?? []))
  }

  /// Calls `handler` once if the client closes its connection, or its sending side, before the answer. TCP
  /// does not distinguish the two, and a client that closed only its sending side still reads an answer. So
  /// the handler should answer immediately, which frees the connection's place in either case.
  /// - Parameter handler: must not hold the responder, which would make a reference cycle. Called from any
  ///   thread, possibly before this method returns.
  public func onHangUp(_ handler: @escaping @Sendable () -> Void) { connection.watchHangUp(serial, handler) }

  deinit {
    if !isUsed.load(ordering: .relaxed) { connection.abandon(serial) }
  }
}
