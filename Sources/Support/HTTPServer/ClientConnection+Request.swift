// The steps of one request. libmicrohttpd calls once for the header fields, once per piece of the body, once
// at its end, and once more after a suspended connection was resumed. All calls are on the thread that serves
// the connection.

internal import CMicroHTTPD
internal import Glibc
internal import Platform

extension ClientConnection {
  /// What libmicrohttpd does after one of its calls.
  enum Step {
    /// Continue to read, or stay suspended.
    case proceed
    case send(Response)
    /// Close the connection.
    case close
  }

  /// Handles one call of libmicrohttpd. `chunk` is empty except for a piece of the body.
  func advance(method: UnsafePointer<CChar>?, chunk: UnsafeRawBufferPointer) -> Step {
    let phase = state.withLock { state in
      state.consumedBytes? += Int64(chunk.count)
      return state.phase
    }
    switch phase {
    case .head: return unsafe admit(method: method)
    case .body: return unsafe chunk.isEmpty ? complete() : collect(chunk)
    case .discarding: return unsafe chunk.isEmpty ? fetchAnswer() : .proceed
    case .answered: return fetchAnswer()
    // The answer was queued before the body was read: discard the body.
    case .answering: return .proceed
    // Input that arrived before the socket was shut down; the end of input follows.
    case .cut: return unsafe chunk.isEmpty ? .close : .proceed
    // libmicrohttpd does not call in these phases.
    case .idle, .handling, .suspended, .closed: return .close
    }
  }

  // MARK: After the header fields

  private func admit(method: UnsafePointer<CChar>?) -> Step {
    let target = state.withLock { state in
      unsafe state.consumedBytes? += Int64(CMicroHTTPD_headBytes(handle))
      return state.target
    }
    guard let target, let bytes = unsafe method, let method = unsafe Self.text(bytes) else {
      return answerEarly(core.handler.response(to: .malformed, head: nil).closing())
    }
    let fields = unsafe HeaderFields(of: handle, method: bytes, target: target)
    let head = RequestHead(method: method, target: target, remoteAddress: remoteAddress, fields: fields)
    state.withLock { state in
      state.head = head
      beginCounting(&state)
    }
    guard unsafe CMicroHTTPD_headMemory(handle) <= core.limits.headerBytesMax else {
      return refuseLargeHead(core.handler.response(to: .headTooLarge, head: head))
    }
    guard !head.isAmbiguous else {
      return answerEarly(core.handler.response(to: .malformed, head: head).closing())
    }
    if core.isCrowded, !core.handler.mayUseReserve(head) {
      return answerEarly(core.handler.response(to: .crowded, head: head).closing())
    }
    switch core.handler.admit(head) {
    case .answer(let response): return answerUnread(response, head)
    case .body(let maximumBytes, let handler):
      guard (head.contentLength ?? 0) <= Int64(maximumBytes) else {
        let response = core.handler.response(to: .bodyTooLarge(maximumBytes: maximumBytes), head: head)
        return answerEarly(response.closing())
      }
      let length = head.contentLength ?? 0
      guard
        length <= Int64(ServerConfiguration.smallBodyBytesMax)
          || core.bodies.hasRoom(for: length, from: group) || core.makeRoom(for: length, from: group)
      else { return answerUnread(core.handler.response(to: .noRoom, head: head), head) }
      let grant = BodyGrant(core.bodies, address: group)
      return enter(.body) {
        $0.handler = handler
        $0.body = BodyCollection(maximumBytes: maximumBytes, announcedBytes: head.contentLength, grant: grant)
      }
    }
  }

  /// Returns the method. The most frequent one skips the UTF-8 validation.
  private static func text(_ method: UnsafePointer<CChar>) -> String? {
    unsafe strcmp(method, "POST") == 0 ? "POST" : String(validatingCString: method)
  }

  /// Answers a request whose body is not needed. A short body is read and discarded, and the connection stays
  /// open. A client that sends `Expect: 100-continue` (RFC 9110 §10.1.1) gets the answer before it sends the
  /// body.
  private func answerUnread(_ response: Response, _ head: RequestHead) -> Step {
    let isShort = !head.isChunked && (head.contentLength ?? 0) <= core.limits.discardedBodyBytesMax
    if head.hasBody && (!isShort || head.header("Expect") != nil) { return answerEarly(response.closing()) }
    return enter(.discarding) { $0.answer = { response } }
  }

  /// Answers without libmicrohttpd, which may have no memory left for the fields of an answer. Under TLS only
  /// the library can write.
  private func refuseLargeHead(_ response: Response) -> Step {
    guard !core.isEncrypted else { return answerEarly(response.closing()) }
    state.withLock { cut(&$0, response) }
    return .close
  }

  /// Answers immediately and closes the connection, because the start of the next request is unknown.
  private func answerEarly(_ response: Response) -> Step {
    let step = enter(.answering) { state in
      state.leavesUnread = true
      state.deadline = core.idleDeadline()
    }
    if case .proceed = step { return .send(response) }
    return step
  }

  private func enter(_ phase: ConnectionState.Phase, _ change: (inout ConnectionState) -> Void) -> Step {
    state.withLock { state in
      guard state.phase == .head else { return .close }
      state.phase = phase
      change(&state)
      return .proceed
    }
  }

  // MARK: The body

  /// Stores a piece of the body within the admitted length and the budget (R8).
  private func collect(_ chunk: UnsafeRawBufferPointer, mayMakeRoom: Bool = true) -> Step {
    var lacking: Int64?
    let refused = state.withLock { state -> (head: RequestHead?, rejection: Rejection)? in
      guard state.phase == .body, let maximumBytes = state.body?.maximumBytes else { return nil }
      let rejection: Rejection
      switch unsafe state.body?.append(chunk) {
      case .collected, nil: return nil
      case .tooLarge: rejection = .bodyTooLarge(maximumBytes: maximumBytes)
      case .noRoom(let bytes):
        if mayMakeRoom {
          lacking = bytes
          return nil
        }
        rejection = .noRoom
      }
      state.body = nil
      return (state.head, rejection)
    }
    if let lacking {
      _ = core.makeRoom(for: lacking, from: group)
      return unsafe collect(chunk, mayMakeRoom: false)
    }
    guard let refused else { return .proceed }
    let response = core.handler.response(to: refused.rejection, head: refused.head).closing()
    return state.withLock { state in
      guard state.phase == .body else { return .proceed }
      if core.isEncrypted || refused.head?.isChunked == false {
        // The end of the body is known, and a client that announced a length may read no answer before that
        // end. Under TLS only libmicrohttpd can write, and only after the body. The deadline still applies.
        state.phase = .discarding
        state.answer = { response }
        return .proceed
      }
      cut(&state, response)
      return .close
    }
  }

  // MARK: The application

  private typealias Handler = @Sendable (Request, Responder) -> Void

  private func complete() -> Step {
    let taken = state.withLock { state -> (request: Request, handler: Handler?, serial: UInt64)? in
      guard state.phase == .body, let head = state.head else { return nil }
      state.phase = .handling
      state.deadline = nil
      defer { state.handler = nil }
      return (Request(head: head, body: state.body?.popBytes() ?? []), state.handler, state.serial)
    }
    guard let taken else { return .close }
    let responder = Responder(connection: self, serial: taken.serial)
    if let handler = taken.handler {
      handler(taken.request, responder)
    } else {
      core.handler.handle(taken.request, responder)
    }
    switch suspendUnlessAnswered() {
    case .answered(let response): return .send(response())
    case .suspended: return .proceed
    case .cut: return .close
    case .draining:
      let response = core.handler.response(to: .stopping, head: taken.request.head)
      answer(taken.serial) { response }
      return fetchAnswer()
    }
  }

  private enum NextStep {
    case answered(@Sendable () -> Response)
    case suspended
    /// The application has closed the connection.
    case cut
    case draining
  }

  /// Returns the answer if there is one already, which avoids suspending. Otherwise suspends, unless the
  /// server drains. Both happen under the lock, so an answer from another thread arrives either before the
  /// check or after the suspension.
  private func suspendUnlessAnswered() -> NextStep {
    state.withLock { state in
      if let answer = state.popAnswer(deadline: core.idleDeadline()) {
        unwatch(&state)
        return .answered(answer)
      }
      guard state.phase == .handling else { return .cut }
      guard !core.isDraining else { return .draining }
      state.phase = .suspended
      unsafe MHD_suspend_connection(handle)
      return .suspended
    }
  }

  private func fetchAnswer() -> Step {
    state.withLock { $0.popAnswer(deadline: core.idleDeadline()) }.map { .send($0()) } ?? .close
  }
}
