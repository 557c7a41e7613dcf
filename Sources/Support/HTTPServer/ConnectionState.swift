// The phase and the data of one connection. A value, protected by its connection's lock.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// The state of one connection. After `answering` it returns to `idle`.
struct ConnectionState {
  enum Phase {
    /// Before a request line: silent, in the TLS handshake, or part of a request line has arrived.
    case idle
    /// The request line has arrived.
    case head
    /// The body is collected.
    case body
    /// The answer is known. The rest of the body is read and discarded, so that the answer can be sent.
    case discarding
    /// In the application's `handle`.
    case handling
    /// In libmicrohttpd's list of suspended connections. Code that leaves this phase must resume the
    /// connection.
    case suspended
    /// Resumed; libmicrohttpd will call again to fetch the answer.
    case answered
    /// libmicrohttpd has the answer and sends it.
    case answering
    /// The server has written to the socket directly, or given up: nothing else may be sent.
    case cut
    /// The descriptor is closed, or about to be.
    case closed
  }

  var phase = Phase.idle
  /// Distinguishes the requests of one connection, so that a late answer never serves the next one.
  var serial: UInt64 = 0
  /// When the connection is cut; nil while the application has the request.
  var deadline: MonotonicInstant?
  /// Whether the deadline is that of a request: from the accept, or from the first byte of the next request.
  var isTimed = true
  /// When the connection became idle, or when the line of the request arrived that is read.
  var since: MonotonicInstant
  /// The bytes of the requests read so far; under TLS, all that the client had sent when its last request
  /// ended (`SocketInput`).
  var receivedBefore: Int64 = 0
  /// The bytes of the heads and bodies that libmicrohttpd has read, without the framing of chunks; nil under
  /// TLS, where they are not the bytes that the socket has received.
  var consumedBytes: Int64?
  /// From the request line; nil when it is not valid UTF-8.
  var target: String?
  var head: RequestHead?
  /// Handles the complete request, if the application gave a handler.
  var handler: (@Sendable (Request, Responder) -> Void)?
  /// From the first byte of the body until the request is answered.
  var body: BodyCollection?
  /// Makes the answer, once the application has answered.
  var answer: (@Sendable () -> Response)?
  /// The connection's descriptor, until libmicrohttpd is about to close it.
  var descriptor: Int32
  /// The request's position when the end of the client's input was first found.
  var inputEnd: (serial: UInt64, phase: Phase)?
  /// The application's hang-up handler and the ticket of its watch.
  var hangUp: (ticket: UInt64, handler: @Sendable () -> Void)?
  /// Whether the request counts as in progress.
  var isCounted = false
  /// Whether the socket may hold unread bytes of the client when it is closed.
  var leavesUnread = false

  init(descriptor: Int32, isEncrypted: Bool, now: MonotonicInstant, deadline: MonotonicInstant) {
    self.descriptor = descriptor
    consumedBytes = isEncrypted ? nil : 0
    self.deadline = deadline
    since = now
  }

  /// A request line arrived; `target` is nil when it is not valid UTF-8.
  /// - Parameter deadline: for a request that begins now. A request that began earlier keeps its deadline.
  mutating func begin(target: String?, now: MonotonicInstant, deadline: MonotonicInstant) {
    guard phase == .idle else { return }
    phase = .head
    serial &+= 1
    since = now
    self.target = target
    if !isTimed { self.deadline = deadline }
    isTimed = true
  }

  /// The first byte of the next request arrived.
  mutating func beginTiming(deadline: MonotonicInstant) {
    isTimed = true
    self.deadline = deadline
  }

  /// The request has ended, answered or not.
  mutating func finish(now: MonotonicInstant, deadline: MonotonicInstant) {
    if phase != .cut && phase != .closed {
      phase = .idle
      since = now
      isTimed = false
      self.deadline = deadline
      // What was read is known without asking the kernel. What has come since then is the next request.
      receivedBefore = consumedBytes ?? SocketInput.received(on: descriptor) ?? 0
    }
    target = nil
    head = nil
    handler = nil
    body = nil
    answer = nil
  }

  /// Returns the answer for libmicrohttpd, and marks the request as being answered.
  mutating func popAnswer(deadline: @autoclosure () -> MonotonicInstant) -> (@Sendable () -> Response)? {
    guard let taken = answer else { return nil }
    answer = nil
    body = nil
    phase = .answering
    self.deadline = deadline()
    return taken
  }

  /// Since when the connection has shown no complete request head; nil in later phases.
  var idleSince: MonotonicInstant? { phase == .idle || phase == .head ? since : nil }

  /// How a connection counts for eviction.
  enum Occupancy {
    case idle(since: MonotonicInstant)
    /// A request whose body is incomplete.
    case body(since: MonotonicInstant)
    case request
    /// It is closing already.
    case ending
  }

  var occupancy: Occupancy {
    if let idleSince { return .idle(since: idleSince) }
    switch phase {
    case .body: return .body(since: since)
    case .cut, .closed: return .ending
    case .idle, .head, .discarding, .handling, .suspended, .answered, .answering: return .request
    }
  }

  /// Whether a request has begun and is not yet answered.
  var isInFlight: Bool {
    switch phase {
    case .idle, .cut, .closed: false
    case .head, .body, .discarding, .handling, .suspended, .answered, .answering: true
    }
  }

  /// False for a client that has sent nothing (browsers connect before they have a request): it would take
  /// the 408 for the answer to its next request (RFC 9110 §15.5.9).
  var shouldSend408: Bool {
    guard phase == .idle else { return isReading }
    return hasSentMore
  }

  /// Whether the client has sent anything since its last request ended, or since it connected. False where
  /// the kernel does not count.
  var hasSentMore: Bool {
    SocketInput.received(on: descriptor).map { $0 > receivedBefore } ?? false
  }

  /// Whether the connection must end with the answer to this request, because its next bytes may be what
  /// another parser takes for a part of this request. libmicrohttpd checks neither the ends of the lines
  /// around chunks nor the fields after the last one.
  var mustClose: Bool { head?.isChunked == true || hasSentAhead }

  /// Whether the client has sent more than the requests that were read, before it got its answer. Browsers,
  /// proxies and the usual libraries do not; an attacker must. False where the kernel does not count.
  private var hasSentAhead: Bool {
    guard let consumedBytes, let received = SocketInput.received(on: descriptor) else { return false }
    return received > consumedBytes
  }

  /// Whether the client has not sent the whole request yet.
  var isReading: Bool {
    switch phase {
    case .idle, .head, .body, .discarding: true
    case .handling, .suspended, .answered, .answering, .cut, .closed: false
    }
  }
}

// MARK: - SocketInput

// Reads from the kernel what input a socket got, including input that libmicrohttpd has already read. Called
// from any thread that may use the descriptor.

/// A socket's input.
enum SocketInput {
  /// The bytes that the client has sent so far, read or not. Counting is exact where times are not: the
  /// kernel's times are in ticks, and on a busy machine a thread reads the clock later than the event.
  /// Nil where the kernel does not count: on any socket but TCP.
  static func received(on descriptor: Int32) -> Int64? {
    let count = CMicroHTTPD_bytesReceived(descriptor)
    return count >= 0 ? count : nil
  }

  /// Whether the socket holds unread data.
  static func isUnread(on descriptor: Int32) -> Bool {
    guard descriptor >= 0 else { return false }
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
  }
}
