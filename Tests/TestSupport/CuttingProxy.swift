// A network between a program and a PostgreSQL server that loses what tests want it to lose. Thread-safe.

internal import Formats
internal import Glibc
internal import Platform
internal import Synchronization

/// Forwards connections from a port of 127.0.0.1 to a server's port, without encryption.
public final class CuttingProxy: Sendable {
  /// What happens to a connection.
  public enum Fault: Int, Sendable {
    case none
    /// The server gets a COMMIT, and the connection is cut as soon as the server answers.
    case cutsAnswerToCommit
    /// A COMMIT does not reach the server; the connection is cut.
    case cutsBeforeCommit
    /// Nothing is forwarded any more, and nothing is cut.
    case silent
  }

  /// Where programs connect to.
  public let port: UInt16
  private let target: UInt16
  private let listener: Int32
  private let fault = Atomic(Fault.none.rawValue)
  private let isForOneCut = Atomic(false)
  private let cuts = Atomic(0)
  private let delay: Duration
  private let isEnding = Atomic(false)
  private let threads = Monitor<[WorkerThread]>([])

  /// - Parameter delay: added to each piece of data from the server, as a slow network does.
  public init(to target: UInt16, delay: Duration = .zero) throws {
    let reserved = try ReservedPort(listens: true)
    (port, self.target, self.delay) = (reserved.number, target, delay)
    listener = reserved.release()
    let thread = try WorkerThread(name: "proxy") { [self] in accept() }
    threads.update { $0.append(thread) }
  }

  /// Sets what happens from now on.
  /// - Parameter once: whether nothing happens any more after one connection was cut, from before its client
  ///   notices.
  public func use(_ fault: Fault, once: Bool = false) {
    isForOneCut.store(once, ordering: .relaxed)
    self.fault.store(fault.rawValue, ordering: .releasing)
  }

  /// How many connections were cut.
  public var cutCount: Int { cuts.load(ordering: .relaxed) }

  /// Ends all connections and threads.
  public func end() {
    isEnding.store(true, ordering: .relaxed)
    shutdown(listener, Int32(SHUT_RDWR))
    for thread in threads.withLock({ list in
      defer { list = [] }
      return list
    }) { thread.join() }
    close(listener)
  }

  private func accept() {
    while !isEnding.load(ordering: .relaxed) {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { continue }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      guard Loopback.connect(server, to: target) == 0,
        let thread = try? WorkerThread(name: "forward", { [self] in forward(client, server) })
      else {
        close(client)
        close(server)
        continue
      }
      threads.update { $0.append(thread) }
    }
  }

  private func forward(_ client: Int32, _ server: Int32) {
    defer {
      close(client)
      close(server)
    }
    var hasCommitted = false
    while !isEnding.load(ordering: .relaxed) {
      var entries = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&entries, 2, 20) > 0 else { continue }
      let present = Fault(rawValue: fault.load(ordering: .acquiring)) ?? .none
      if present == .silent {
        _ = poll(nil, 0, 20)
        continue
      }
      if entries[0].revents != 0 {
        guard let bytes = Self.receive(client) else { return }
        let isCommit = Self.contains(Array("COMMIT\0".utf8), in: bytes)
        if isCommit, present == .cutsBeforeCommit { return noteCut() }
        hasCommitted = hasCommitted || isCommit
        guard Self.send(bytes, to: server) else { return }
      }
      if entries[1].revents != 0 {
        if hasCommitted, present == .cutsAnswerToCommit { return noteCut() }
        hasCommitted = false
        guard let bytes = Self.receive(server) else { return }
        if delay > .zero { _ = poll(nil, 0, Int32(clamping: delay.milliseconds)) }
        guard Self.send(bytes, to: client) else { return }
      }
    }
  }

  private func noteCut() {
    if isForOneCut.load(ordering: .relaxed) { fault.store(Fault.none.rawValue, ordering: .relaxed) }
    cuts.add(1, ordering: .relaxed)
  }

  private static func receive(_ socket: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(socket, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }

  private static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func contains(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
    bytes.count >= part.count
      && (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
  }
}
