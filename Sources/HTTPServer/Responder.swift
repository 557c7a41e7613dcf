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
