// Bodies that are made while they are sent, so that their length costs no memory.

internal import CMicroHTTPD
internal import Platform

/// Makes the body of an answer, piece by piece. It is released when the answer has ended: when it is sent,
/// when the client has hung up or reads too slowly, or when the server stops.
public protocol BodyStream: AnyObject, Sendable {
  /// The next piece, which may be empty; nil after the last one. Called on the thread that serves the
  /// connection, and other connections wait meanwhile, so a piece must not take long. Called again once the
  /// piece is sent.
  /// - Throws: if the body cannot be completed. The client sees the connection end before the body does.
  func next() throws -> [UInt8]?
}

/// The stream of one answer, and the piece that is being sent. libmicrohttpd owns it; one thread.
final class StreamInFlight {
  private let stream: any BodyStream
  private let connection: ClientConnection
  private var piece: ArraySlice<UInt8> = []

  init(_ stream: any BodyStream, _ connection: ClientConnection) {
    self.stream = stream
    self.connection = connection
  }

  /// Copies the next bytes.
  /// - Returns: how many; or that the body has ended, or cannot be completed (microhttpd.h,
  ///   MHD_ContentReaderCallback). After 0, libmicrohttpd serves other connections and asks again.
  func copy(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard connection.continueAnswer() else { return CMicroHTTPD_endWithError }
    do {
      if piece.isEmpty {
        guard let next = try stream.next() else { return CMicroHTTPD_endOfStream }
        piece = next[...]
      }
    } catch {
      connection.core.log("a body could not be completed: \(error)")
      return CMicroHTTPD_endWithError
    }
    let count = min(buffer.count, piece.count)
    unsafe piece.prefix(count).withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
    piece = piece.dropFirst(count)
    return count
  }
}

extension ClientConnection {
  /// Whether the request asks for the header fields only.
  var isHead: Bool { state.withLock { $0.head?.method == "HEAD" } }

  /// The client has read the last piece of a body, so it has time to read the next one.
  /// - Returns: false if the server stops: it does not wait for the rest.
  func continueAnswer() -> Bool {
    guard !core.isStopping else { return false }
    let deadline = core.idleDeadline()
    return state.withLock { state in
      guard state.phase == .answering else { return false }
      state.deadline = deadline
      return true
    }
  }
}
