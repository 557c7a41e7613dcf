// One client connection: what libmicrohttpd's callbacks, the application's answers and the watcher share.
// Each comes from a thread of its own, so everything that changes is in one state under one lock, and the
// application is never called while it is held.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// One client connection.
///
/// Owned by libmicrohttpd's `socket_context` from the notification that it started to the one that it closed,
/// and by each responder that is still held. The `MHD_Connection` is libmicrohttpd's; it is used by the
/// thread that serves the connection, and by another thread only to resume it while it is suspended, because
/// it cannot go away then.
@safe final class ClientConnection: @unchecked Sendable {
  let core: Core
  let remoteAddress: String
  /// What limits count the client as.
  let group: AddressGroup
  /// What it counts as among the connections of one client; nil when it does not.
  let limitedGroup: AddressGroup?
  let handle: OpaquePointer
  let state: Monitor<ConnectionState>

  init(core: Core, handle: OpaquePointer, _ admission: Core.Admission) {
    self.core = core
    unsafe self.handle = unsafe handle
    let descriptor = unsafe CMicroHTTPD_socket(handle)
    let address = unsafe PeerAddress.text(CMicroHTTPD_clientAddress(handle))
    remoteAddress = address.isEmpty ? PeerAddress.localUser(descriptor) : address
    group = AddressGroup(remoteAddress)
    limitedGroup = admission.group
    let deadline = core.requestDeadline(from: admission.moment)
    state = Monitor(ConnectionState(descriptor: descriptor, now: admission.moment, deadline: deadline))
  }

  // MARK: The application's side; any thread

  /// Takes the application's answer. Does nothing when that request is over or already has one.
  func answer(_ serial: UInt64, _ response: @escaping @Sendable () -> Response) {
    state.withLock { state in
      guard state.serial == serial, state.answer == nil else { return }
      switch state.phase {
      case .handling:
        // The serving thread has not suspended yet and looks for an answer first, under this lock.
        state.answer = response
      case .suspended:
        state.answer = response
        state.phase = .answered
        // Under the lock: when `abort` has seen this connection, it is resumed, and the daemon may be
        // stopped. libmicrohttpd calls nothing back from here; it only marks the connection and wakes its
        // thread.
        unsafe MHD_resume_connection(handle)
      case .idle, .head, .body, .discarding, .answered, .answering, .cut, .closed:
        break
      }
    }
  }

  /// The application dropped the responder.
  func abandon(_ serial: UInt64) {
    let head = state.withLock { $0.serial == serial ? $0.head : nil }
    guard let head else { return }
    let response = core.handler.response(to: .abandoned, head: head)
    answer(serial) { response }
  }

  // MARK: Hang-ups

  /// Has `handler` called once if the client hangs up before the request is answered.
  func watchHangUp(_ serial: UInt64, _ handler: @escaping @Sendable () -> Void) {
    state.withLock { state in
      let isPending = state.phase == .handling || state.phase == .suspended
      guard isPending, state.serial == serial, state.answer == nil, state.descriptor >= 0 else { return }
      unwatch(&state)
      if let ticket = core.hangUps.add(self, state.descriptor) { state.hangUp = (ticket, handler) }
    }
  }

  /// The client has hung up, or at least sends nothing more. The thread of `HangUps`.
  func hungUp(_ ticket: UInt64) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard let hangUp = state.hangUp, hangUp.ticket == ticket else { return nil }
      unwatch(&state)
      return hangUp.handler
    }
    handler?()
  }

  /// Ends the watch, while the descriptor is still this connection's.
  func unwatch(_ state: inout ConnectionState) {
    guard let hangUp = state.hangUp else { return }
    state.hangUp = nil
    core.hangUps.remove(hangUp.ticket, state.descriptor)
  }

  // MARK: The stopping thread's side

  /// Answers in the application's place, if the application has the request. After `core.isDraining` is set,
  /// no connection that this has seen is suspended, or will be.
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

  /// Cuts the connection if its time is up.
  /// - Returns: its deadline, if it has one still to come.
  func expire(_ now: MonotonicInstant) -> MonotonicInstant? {
    // Most have none, or time left, and are looked at often: no more is read of them.
    guard let deadline = state.withLock({ $0.deadline }) else { return nil }
    guard deadline <= now else { return deadline }
    let seen = state.withLock { ($0.deadline, $0.serial, $0.head, $0.owesAnswer) }
    let answer = seen.3 ? core.handler.response(to: .tooSlow, head: seen.2) : nil
    state.withLock { state in
      // The request may have gone on while the application made up its answer.
      guard state.deadline == deadline, state.serial == seen.1, state.owesAnswer == seen.3 else { return }
      cut(&state, answer)
    }
    return nil
  }

  /// Looks at what the client has sent: starts the time of a request that has begun, and cuts the
  /// connection if the client has closed its side and still owes a part of the request, or the next one.
  ///
  /// libmicrohttpd waits for edges (epoll(7), EPOLLET) and misses an end of input that comes together with
  /// the last bytes: it would wait until the time is up, and who sends half a request and goes away would
  /// hold a connection for nothing. Only what is found twice counts: by then the library has dealt with what
  /// it had read.
  func checkInput() {
    state.withLock { state in
      guard state.isReading, state.descriptor >= 0 else { return }
      // libmicrohttpd does not report a request before its whole first line has come.
      if !state.isTimed, SocketInput.came(after: state.since, on: state.descriptor) {
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

  /// What the connection is to those who look for room.
  var occupancy: ConnectionState.Occupancy { state.withLock { $0.occupancy } }

  /// Makes room for another connection, if this one still does not show what it wants. One whose request has
  /// come, but has not been read yet, does.
  func evict() {
    state.withLock { state in
      guard state.idleSince != nil, !SocketInput.isUnread(on: state.descriptor) else { return }
      cut(&state, nil)
    }
  }

  /// Ends the connection past libmicrohttpd, which can queue no answer while it reads a body: writes the
  /// answer and shuts the socket down, whereupon libmicrohttpd finds it closed and cleans up. Only in a phase
  /// in which libmicrohttpd has nothing to send; from here on it gets nothing either. Under TLS there is no
  /// way past the library, and the client sees the connection end.
  func cut(_ state: inout ConnectionState, _ answer: Response?) {
    state.phase = .cut
    state.deadline = nil
    state.answer = nil
    state.body = nil
    state.leavesUnread = true
    // The descriptor is forgotten under this lock before libmicrohttpd closes it (see `closed`), so it cannot
    // be another connection's by now.
    guard state.descriptor >= 0 else { return }
    if let answer, !core.isEncrypted {
      let bytes = RawAnswer.bytes(answer, isHead: state.head?.method == "HEAD")
      // Nothing is waiting in the socket's buffer before a request is answered, so this fits or the client is
      // gone.
      _ = unsafe bytes.withUnsafeBytes {
        unsafe send(state.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
    }
    shutdown(state.descriptor, Int32(SHUT_RDWR))
  }

  // MARK: libmicrohttpd's side; the thread that serves the connection

  /// The request line came.
  func begin(target: String?) {
    let now = MonotonicInstant.now()
    let deadline = core.requestDeadline(from: now)
    state.withLock { $0.begin(target: target, now: now, deadline: deadline) }
  }

  /// The request is over: the answer is sent, or the client is gone.
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

  /// libmicrohttpd is about to close the descriptor: it notifies before it does (MHD_cleanup_connections), so
  /// from here on nobody may use it.
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

  /// The request is under way from here on (`RequestCount`).
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

  /// Throws away what the client has sent already: closing a socket with unread bytes makes the kernel send a
  /// reset, which may overtake the answer (RFC 9112 §9.6).
  private static func drain(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    let flags = Int32(MSG_DONTWAIT | MSG_TRUNC)
    for _ in 0..<64 {
      // With MSG_TRUNC TCP discards the bytes and copies none (tcp(7)).
      guard recv(descriptor, nil, 1 << 20, flags) > 0 else { return }
    }
  }
}
