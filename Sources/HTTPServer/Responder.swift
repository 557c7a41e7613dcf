// The right to answer one request. Any thread; nothing here blocks.

internal import Synchronization

/// Answers one request, once, from any thread, at any time.
///
/// If it is dropped without an answer, the request is answered as `Rejection.abandoned`: none can hang for
/// ever.
public final class Responder: Sendable {
  private let connection: ClientConnection
  private let serial: UInt64
  private let isUsed = Atomic<Bool>(false)

  init(connection: ClientConnection, serial: UInt64) {
    self.connection = connection
    self.serial = serial
  }

  /// The first call wins; later ones, and one for a client that is gone, do nothing.
  public func respond(_ response: Response) { respond { response } }

  /// The same, with an answer that is put together by the thread that sends it: whoever answers many at once
  /// does not do it for all of them. Not called for a client that is gone by then.
  public func respond(making response: @escaping @Sendable () -> Response) {
    guard !isUsed.exchange(true, ordering: .relaxed) else { return }
    connection.answer(serial, response)
  }

  /// Has `handler` called once if the client closes its connection, or its side of it, before the answer. A
  /// client that has only closed its side (TCP tells no difference) still reads an answer, so the handler
  /// should give one at once; that frees the connection's place either way.
  /// - Parameter handler: must not hold the responder, which the connection would then hold in turn. Any
  ///   thread; also before this returns, on another one.
  public func onHangUp(_ handler: @escaping @Sendable () -> Void) { connection.watchHangUp(serial, handler) }

  deinit {
    if !isUsed.load(ordering: .relaxed) { connection.abandon(serial) }
  }
}
