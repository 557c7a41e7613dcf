// How far a connection is. A value; it lives under its connection's lock.

internal import Platform

/// The life of one connection; after `answering` it begins again at `idle`.
struct ConnectionState {
  enum Phase {
    /// Before a request line: silent, in the TLS handshake, or part of a request line has come.
    case idle
    /// The request line has come.
    case head
    /// The body is collected.
    case body
    /// The answer is known; the rest of the body is read and thrown away, so that the answer can be sent.
    case discarding
    /// In the application's `handle`.
    case handling
    /// In libmicrohttpd's list of suspended connections; whoever leaves this phase must resume it.
    case suspended
    /// Resumed; libmicrohttpd will call again to fetch the answer.
    case answered
    /// libmicrohttpd has the answer and sends it.
    case answering
    /// The server has written to the socket past libmicrohttpd, or given up: nothing else may be sent.
    case cut
    /// The descriptor is gone, or about to be.
    case closed
  }

  var phase = Phase.idle
  /// Tells the requests of one connection apart, so that a late answer can never serve the next one.
  var serial: UInt64 = 0
  /// When the connection is cut; nil while the application has the request.
  var deadline: MonotonicInstant?
  /// Whether the deadline is that of a request: from the accept on, or since the first byte of the next one.
  var isTimed = true
  /// Since when the connection has been in its phase, as far as it is idle or in the head of a request.
  var since: MonotonicInstant
  /// Of the request line; nil when it is not valid UTF-8.
  var target: String?
  var head: RequestHead?
  /// What takes the complete request, if the application named something.
  var handler: (@Sendable (Request, Responder) -> Void)?
  /// From the first byte of the body until the request is answered.
  var body: BodyCollection?
  /// What makes the answer, once there is one.
  var answer: (@Sendable () -> Response)?
  /// The connection's descriptor, until libmicrohttpd is about to close it.
  var descriptor: Int32
  /// Where the request was when the client was first found to send nothing more.
  var inputEnd: (serial: UInt64, phase: Phase)?
  /// What the application does when the client hangs up, and the ticket of its watch.
  var hangUp: (ticket: UInt64, handler: @Sendable () -> Void)?
  /// Whether the request counts as one under way.
  var isCounted = false
  /// Whether bytes of the client may lie unread in the socket when it is closed.
  var leavesUnread = false

  init(descriptor: Int32, now: MonotonicInstant, deadline: MonotonicInstant) {
    self.descriptor = descriptor
    self.deadline = deadline
    since = now
  }

  /// A request line came; `target` is nil when it is not valid UTF-8.
  /// - Parameter deadline: of a request that begins now; one that has begun before keeps its own.
  mutating func begin(target: String?, now: MonotonicInstant, deadline: MonotonicInstant) {
    guard phase == .idle else { return }
    phase = .head
    serial &+= 1
    since = now
    self.target = target
    if !isTimed { self.deadline = deadline }
    isTimed = true
  }

  /// The first byte of the next request came.
  mutating func beginTiming(deadline: MonotonicInstant) {
    isTimed = true
    self.deadline = deadline
  }

  /// The request is over, answered or not.
  mutating func finish(now: MonotonicInstant, deadline: MonotonicInstant) {
    if phase != .cut && phase != .closed {
      phase = .idle
      since = now
      isTimed = false
      self.deadline = deadline
    }
    target = nil
    head = nil
    handler = nil
    body = nil
    answer = nil
  }

  /// Gives the answer to libmicrohttpd.
  mutating func takeAnswer(deadline: @autoclosure () -> MonotonicInstant) -> (@Sendable () -> Response)? {
    guard let taken = answer else { return nil }
    answer = nil
    body = nil
    phase = .answering
    self.deadline = deadline()
    return taken
  }

  /// Since when nobody knows what the client wants: before or in the head of a request; nil afterwards.
  var idleSince: MonotonicInstant? { phase == .idle || phase == .head ? since : nil }

  /// What a connection is to those who look for room.
  enum Occupancy {
    case idle(since: MonotonicInstant)
    case request
    /// It makes room anyway.
    case ending
  }

  var occupancy: Occupancy {
    if let idleSince { return .idle(since: idleSince) }
    return phase == .cut || phase == .closed ? .ending : .request
  }

  /// Whether a request has begun and is not yet answered.
  var isInFlight: Bool {
    switch phase {
    case .idle, .cut, .closed: false
    case .head, .body, .discarding, .handling, .suspended, .answered, .answering: true
    }
  }

  /// Whether a client that is cut now gets a 408. One that has sent nothing, as browsers
  /// connect before they have a request, would take it for the answer to its next one (RFC 9110 §15.5.9).
  var owesAnswer: Bool {
    guard phase == .idle else { return isReading }
    return SocketInput.came(after: since, on: descriptor)
  }

  /// Whether the client still owes a part of the request.
  var isReading: Bool {
    switch phase {
    case .idle, .head, .body, .discarding: true
    case .handling, .suspended, .answered, .answering, .cut, .closed: false
    }
  }
}
