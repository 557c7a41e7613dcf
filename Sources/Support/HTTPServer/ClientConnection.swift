// One client connection: the state that libmicrohttpd's callbacks, the application's answers and the watcher
// share. Each uses a different thread, so all mutable state is in one value under one lock. The application
// is never called while the lock is held.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// One client connection.
///
/// Owned by libmicrohttpd's `socket_context` from the start notification to the close notification, and by
/// each live responder. The `MHD_Connection` belongs to libmicrohttpd. Only the thread that serves the
/// connection uses it, with one exception: another thread resumes it while it is suspended, because a
/// suspended connection is not freed.
@safe final class ClientConnection: @unchecked Sendable {
  let core: Core
  let remoteAddress: String
  /// The group that the limits count the client in.
  let group: AddressGroup
  /// The group for the limit of connections per client; nil when the client is not limited.
  let limitedGroup: AddressGroup?
  let handle: OpaquePointer
  /// `Core.identityNumber` when it began.
  let identityNumber: Int
  let state: Monitor<ConnectionState>

  /// - Parameter admission: nil for a connection that counts no more (`Registry.forgetUnserved`).
  init(core: Core, handle: OpaquePointer, _ admission: Core.Admission?) {
    self.core = core
    identityNumber = core.identityNumber
    unsafe self.handle = unsafe handle
    let descriptor = unsafe CMicroHTTPD_socket(handle)
    let address = unsafe admission?.address ?? PeerAddress.text(CMicroHTTPD_clientAddress(handle))
    remoteAddress = address.isEmpty ? PeerAddress.localUser(descriptor) : address
    limitedGroup = admission?.group
    group = limitedGroup ?? AddressGroup(remoteAddress)
    let now = admission?.moment ?? .now()
    state = Monitor(
      ConnectionState(
        descriptor: descriptor, isEncrypted: core.isEncrypted, now: now,
        deadline: core.requestDeadline(from: now)))
  }

  // MARK: The application's side; any thread

  /// Stores the application's answer. Ignores an answer to a request that has ended or already has one.
  func answer(_ serial: UInt64, _ response: @escaping @Sendable () -> Response) {
    state.withLock { state in
      guard state.serial == serial, state.answer == nil else { return }
      switch state.phase {
      case .handling:
        // The serving thread has not suspended yet; it checks for an answer first, under this lock.
        state.answer = response
      case .suspended:
        state.answer = response
        state.phase = .answered
        // Resumes under the lock: after `abort` has visited this connection, it must not be suspended,
        // because the daemon may be stopped. libmicrohttpd makes no callback from here: it marks the
        // connection and wakes its thread.
        unsafe MHD_resume_connection(handle)
      case .idle, .head, .body, .discarding, .answered, .answering, .cut, .closed:
        break
      }
    }
  }

  /// Closes the connection before the request is answered.
  /// - Parameter bytes: sent before the end.
  func disconnect(_ serial: UInt64, _ bytes: [UInt8]) {
    state.withLock { state in
      guard state.serial == serial, state.answer == nil else { return }
      let isSuspended = state.phase == .suspended
      guard isSuspended || state.phase == .handling else { return }
      unwatch(&state)
      cut(&state, bytes)
      // A suspended connection would not notice that its socket is shut down. Under the lock as in `answer`.
      if isSuspended { unsafe MHD_resume_connection(handle) }
    }
  }

  /// Called when the application dropped the responder without an answer.
  func abandon(_ serial: UInt64) {
    let head = state.withLock { $0.serial == serial ? $0.head : nil }
    guard let head else { return }
    let response = core.handler.response(to: .abandoned, head: head)
    answer(serial) { response }
  }

  // MARK: Hang-ups

  /// Calls `handler` once if the client hangs up before the request is answered.
  func watchHangUp(_ serial: UInt64, _ handler: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let isPending = state.phase == .handling || state.phase == .suspended
      guard isPending, state.serial == serial, state.answer == nil, state.descriptor >= 0 else { return }
      unwatch(&state)
      if let ticket = core.hangUps.add(self, state.descriptor) { state.hangUp = (ticket, handler) }
    }
  }

  /// Called when the client has hung up, or has closed its sending side. The thread of `HangUps`.
  func hungUp(_ ticket: UInt64) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard let hangUp = state.hangUp, hangUp.ticket == ticket else { return nil }
      unwatch(&state)
      return hangUp.handler
    }
    handler?()
  }

  /// Ends the watch. Called while the descriptor still belongs to this connection.
  func unwatch(_ state: inout ConnectionState) {
    guard let hangUp = state.hangUp else { return }
    state.hangUp = nil
    core.hangUps.remove(hangUp.ticket, state.descriptor)
  }

  // MARK: The stopping thread's side

  /// Answers for the application if the request is suspended. Once `core.isDraining` is set, a connection
  /// that this method has visited is not suspended, and will not be.
  func abort() {
    let pending = state.withLock { state -> (serial: UInt64, head: RequestHead)? in
      guard state.phase == .suspended, let head = state.head else { return nil }
      return (state.serial, head)
    }
    guard let pending else { return }
    let response = core.handler.response(to: .stopping, head: pending.head)
    answer(pending.serial) { response }
  }

  var isInFlight: Bool { state.withLock { $0.isInFlight } }
  var isBeingAnswered: Bool { state.withLock { $0.isInFlight && !$0.isReading } }

  // MARK: The watcher's side

  /// Cuts the connection if its deadline has passed.
  /// - Returns: the deadline, if it is still ahead.
  func expire(_ now: MonotonicInstant) -> MonotonicInstant? {
    // Most connections have no deadline or time left, and are checked often: read only the deadline first.
    guard let deadline = state.withLock({ $0.deadline }) else { return nil }
    guard deadline <= now else { return deadline }
    let seen = state.withLock { ($0.deadline, $0.serial, $0.head, $0.shouldSend408) }
    let answer = seen.3 ? core.handler.response(to: .tooSlow, head: seen.2) : nil
    state.withLock { state in
      // The request may have advanced while the application made its answer.
      guard state.deadline == deadline, state.serial == seen.1, state.shouldSend408 == seen.3 else { return }
      cut(&state, answer)
    }
    return nil
  }

  /// Checks what the client has sent. Starts the deadline of a request that has begun. Cuts the connection if
  /// the client has closed its sending side before the current or the next request is complete.
  ///
  /// libmicrohttpd waits for edges (epoll(7), EPOLLET) and misses an end of input that arrives together with
  /// the last bytes. It would wait for the deadline, so a client that sends half a request and disconnects
  /// would hold a connection until then. An end of input counts only when two checks find it: by then the
  /// library has processed what it had read.
  func checkInput() {
    state.withLock { state in
      guard state.isReading, state.descriptor >= 0 else { return }
      // libmicrohttpd does not report a request before its whole first line has arrived.
      if !state.isTimed, state.hasSentMore {
        state.beginTiming(deadline: core.requestDeadline())
      }
      var byte: UInt8 = 0
      guard unsafe recv(state.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
      else {
        state.inputEnd = nil
        return
      }
      if let seen = state.inputEnd, seen == (state.serial, state.phase) {
        cut(&state, nil)
      } else {
        state.inputEnd = (state.serial, state.phase)
      }
    }
  }

  /// How the connection counts for eviction.
  var occupancy: ConnectionState.Occupancy { state.withLock { $0.occupancy } }

  /// Cuts an idle connection to make room for another. A connection with an unread request in its socket is
  /// not idle.
  func evict() {
    state.withLock { state in
      guard state.idleSince != nil, !SocketInput.isUnread(on: state.descriptor) else { return }
      cut(&state, nil)
    }
  }

  /// Refuses a request whose body is incomplete, to make room for others.
  /// - Returns: false when it is complete by now.
  @discardableResult
  func evictBody(_ rejection: Rejection) -> Bool {
    let seen = state.withLock { $0.phase == .body ? (serial: $0.serial, head: $0.head) : nil }
    guard let seen else { return false }
    let answer = core.handler.response(to: rejection, head: seen.head)
    return state.withLock { state in
      guard state.serial == seen.serial, state.phase == .body else { return false }
      cut(&state, answer)
      return true
    }
  }

  /// Since when a body that uses the budget has been incomplete; nil for any other connection.
  var bodySince: MonotonicInstant? {
    state.withLock { $0.phase == .body && $0.body?.isInBudget == true ? $0.since : nil }
  }

  /// Ends the connection without libmicrohttpd, which cannot queue an answer while it reads a body. Writes
  /// the answer and shuts the socket down; libmicrohttpd then finds it closed and cleans up. Called only in a
  /// phase in which libmicrohttpd has nothing to send; it gets nothing to send afterwards. Under TLS only the
  /// library can write, so the client sees the connection end.
  func cut(_ state: inout ConnectionState, _ answer: Response?) {
    cut(&state, answer.map { RawAnswer.bytes($0, isHead: state.head?.method == "HEAD") } ?? [])
  }

  private func cut(_ state: inout ConnectionState, _ bytes: [UInt8]) {
    state.phase = .cut
    state.deadline = nil
    state.answer = nil
    state.body = nil
    state.leavesUnread = true
    // `closed` clears the descriptor under this lock before libmicrohttpd closes it, so it cannot belong to
    // another connection.
    guard state.descriptor >= 0 else { return }
    if !bytes.isEmpty, !core.isEncrypted {
      // The socket's send buffer is empty before a request is answered, so this fits unless the client
      // has disconnected.
      _ = unsafe bytes.withUnsafeBytes {
        unsafe send(state.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
    }
    shutdown(state.descriptor, Int32(SHUT_RDWR))
  }

  // MARK: libmicrohttpd's side; the thread that serves the connection

  /// The request line arrived.
  func begin(target: String?) {
    let now = MonotonicInstant.now()
    let deadline = core.requestDeadline(from: now)
    state.withLock { $0.begin(target: target, now: now, deadline: deadline) }
  }

  /// The request has ended: the answer is sent, or the client has disconnected.
  func finish() {
    let now = MonotonicInstant.now()
    let deadline = core.idleDeadline(from: now)
    state.withLock { state in
      unwatch(&state)
      endCounting(&state)
      state.finish(now: now, deadline: deadline)
    }
    core.noteProgress()
  }

  /// Whether the connection must end with the answer that is about to be sent.
  var mustClose: Bool {
    state.withLock { state in
      guard state.mustClose else { return false }
      state.leavesUnread = true
      return true
    }
  }

  /// libmicrohttpd is about to close the descriptor; it notifies before that (MHD_cleanup_connections). The
  /// descriptor must not be used after this call.
  func closed() {
    state.withLock { state in
      unwatch(&state)
      endCounting(&state)
      if state.leavesUnread { Self.drain(state.descriptor) }
      state.phase = .closed
      state.deadline = nil
      state.body = nil
      state.descriptor = -1
    }
  }

  /// Counts the request as in progress (`RequestCount`).
  func beginCounting(_ state: inout ConnectionState) {
    guard !state.isCounted else { return }
    state.isCounted = true
    core.requests.begin()
  }

  private func endCounting(_ state: inout ConnectionState) {
    guard state.isCounted else { return }
    state.isCounted = false
    core.requests.end()
  }

  /// Discards what the client has sent already. Closing a socket with unread bytes makes the kernel send a
  /// reset, which may overtake the answer (RFC 9112 §9.6).
  private static func drain(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    let flags = Int32(MSG_DONTWAIT | MSG_TRUNC)
    for _ in 0..<64 {
      // With MSG_TRUNC, TCP discards the bytes and copies none (tcp(7)).
      guard recv(descriptor, nil, 1 << 20, flags) > 0 else { return }
    }
  }
}
