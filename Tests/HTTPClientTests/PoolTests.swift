// Connections, timeouts, wake-ups and cancellation.

import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing

@Suite("The pool", .serialized)
struct PoolTests {
  private static let answerAll: @Sendable (ScriptedConnection) -> Void = { connection in
    while connection.readRequest() != nil { connection.answer() }
  }

  private static let hang: @Sendable (ScriptedConnection) -> Void = { $0.waitForClose() }

  @Test func `A refused connection has sent nothing`() throws {
    let (descriptor, port) = try openSocket()
    defer { Glibc.close(descriptor) }
    let result = try perform(TransferRequest(method: .post, url: "http://127.0.0.1:\(port)/"))
    #expect(result.status == nil)
    #expect(result.failure == .connectFailed)
    #expect(!result.requestWasSent)
  }

  @Test("A failed connection names its address and the cause, and nothing else of the URL (R7)")
  func detail() throws {
    let (descriptor, port) = try openSocket()
    defer { Glibc.close(descriptor) }
    let url = "http://127.0.0.1:\(port)/hidden-path?token=hidden-token"
    let refused = try perform(TransferRequest(method: .post, url: url))
    #expect(refused.detail == "127.0.0.1:\(port): Connection refused")
    #expect(refused.failureText == "connect_failed: 127.0.0.1:\(port): Connection refused")
    let slow = try withServer(Self.hang) { server in
      try perform(
        TransferRequest(
          method: .post, url: "http://localhost:\(server.port)/hidden-path?token=hidden-token",
          body: Array("{}".utf8), timeout: .milliseconds(200)))
    }
    let detail = try #require(slow.detail)
    #expect(detail.hasPrefix("localhost:"))
    #expect(detail.contains("(127.0.0.1): "))
    #expect(detail.contains("timed out"))
    #expect(!detail.contains("hidden"))
    // The slot is reused: the next transfer must not report this transfer's failure.
    let pool = try makePool()
    _ = try perform(TransferRequest(method: .post, url: url), on: pool)
    let good = try withServer(Self.answerAll) { try perform($0.request(), on: pool) }
    #expect(good.status == 200)
    #expect(good.detail == nil)
  }

  @Test func `A name that does not resolve has sent nothing`() throws {
    let request = TransferRequest(method: .post, url: "https://receipts.invalid/", timeout: .seconds(2))
    let pool = try TransferPool(connectionsMax: 1, proxies: ProxySettings(Environment([:])))
    let result = try perform(request, on: pool)
    // Without an answer of the name server, the lookup times out.
    #expect([.resolveFailed, .timeout].contains(result.failure))
    #expect(!result.requestWasSent)
    #expect(result.duration < .seconds(30))
  }

  @Test func `A server that never answers ends at the timeout, and the request counts as sent`() throws {
    let result = try withServer(Self.hang) { try perform($0.request(timeout: .milliseconds(200))) }
    #expect(result.status == nil)
    #expect(result.failure == .timeout)
    #expect(result.requestWasSent)
    #expect((Duration.milliseconds(190)..<Duration.seconds(5)).contains(result.duration))
  }

  @Test func `A reset or a close instead of an answer is a lost connection with the request sent`() throws {
    let reset = try withServer({ connection in
      _ = connection.readRequest()
      connection.reset()
    }) { try perform($0.request()) }
    #expect(reset.status == nil)
    #expect(reset.failure == .connectionLost)
    #expect(reset.requestWasSent)
    let closed = try withServer({ _ = $0.readRequest() }) { try perform($0.request()) }
    #expect(closed.status == nil)
    #expect(closed.failure == .connectionLost)
    #expect(closed.requestWasSent)
  }

  @Test func `Successive requests share a connection`() throws {
    try withServer(Self.answerAll) { server in
      let pool = try makePool()
      for _ in 0..<5 { #expect(try perform(server.request(), on: pool).status == 200) }
      #expect(server.accepted == 1)
    }
  }

  @Test func `A kept connection that the server closed is replaced`() throws {
    try withServer({ connection in
      _ = connection.readRequest()
      connection.answer()
    }) { server in
      let pool = try makePool()
      for _ in 0..<3 { #expect(try perform(server.request(), on: pool).status == 200) }
      #expect(server.accepted == 3)
    }
  }

  @Test func `Transfers run at the same time, each with its own answer`() throws {
    let arrived = Monitor(0)
    try withServer({ connection in
      guard let request = connection.readRequest() else { return }
      arrived.update { $0 += 1 }
      let deadline = MonotonicInstant.now().advanced(by: .seconds(8))
      // No request is answered before all have arrived.
      let all = arrived.wait(until: deadline) { $0 == 8 ? true : nil } ?? false
      connection.answer(all ? "200 OK" : "503 Alone", String(request.suffix(1)))
    }) { server in
      let pool = try makePool(connectionsMax: 8)
      for tag in 0..<8 {
        var request = server.request()
        request.body = Array("n=\(tag)".utf8)
        try pool.start(request, tag: UInt64(tag))
      }
      #expect(pool.active == 8)
      let completions = finish(pool, count: 8)
      #expect(completions.allSatisfy { $0.result.status == 200 && $0.result.body == Array("\($0.tag)".utf8) })
      #expect(Set(completions.map(\.tag)) == Set(0..<8))
      #expect(server.accepted == 8)
      #expect(pool.active == 0)
    }
  }

  @Test func `A full pool refuses, and accepts more when a transfer has ended`() throws {
    try withServer(Self.answerAll) { server in
      let pool = try makePool(connectionsMax: 1)
      try pool.start(server.request(), tag: 1)
      #expect(throws: TransferFailure.poolFull) { try pool.start(server.request(), tag: 2) }
      #expect(finish(pool).map(\.tag) == [1])
      #expect(try perform(server.request(), on: pool).status == 200)
    }
  }

  @Test func `In a pool of one, a kept connection is closed for another server`() throws {
    try withServer(Self.answerAll) { first in
      try withServer(Self.answerAll) { second in
        let pool = try makePool(connectionsMax: 1)
        for server in [first, second, first] {
          #expect(try perform(server.request(), on: pool).status == 200)
        }
        #expect(first.accepted == 2)
        #expect(second.accepted == 1)
      }
    }
  }

  @Test func `Waking ends a wait from another thread, or the next one`() throws {
    try withServer(Self.hang) { server in
      let pool = try makePool()
      try pool.start(server.request(), tag: 1)
      let start = MonotonicInstant.now()
      let waker = try WorkerThread(name: "waker") { if server.waitForConnections(1) { pool.wake() } }
      #expect(pool.run(timeout: .seconds(7)).isEmpty)
      waker.join()
      pool.wake()
      #expect(pool.run(timeout: .seconds(7)).isEmpty)
      #expect(MonotonicInstant.now().duration(since: start) < .seconds(6))
    }
  }

  @Test func `An idle run ends at its timeout; zero returns at once`() throws {
    let pool = try makePool()
    let start = MonotonicInstant.now()
    #expect(pool.run(timeout: .zero).isEmpty)
    #expect(pool.run(timeout: .milliseconds(-5)).isEmpty)
    #expect(pool.run(timeout: .milliseconds(100)).isEmpty)
    #expect(
      (Duration.milliseconds(95)..<Duration.seconds(5)).contains(
        MonotonicInstant.now().duration(since: start)))
  }

  @Test func `A cancelled transfer reports whether its request was sent, and the pool continues`() throws {
    let received = Monitor(false)
    try withServer({ connection in
      guard let request = connection.readRequest() else { return }
      if request.hasSuffix("answer") {
        connection.answer()
      } else {
        received.update { $0 = true }
        connection.waitForClose()
      }
    }) { server in
      let pool = try makePool()
      try pool.start(server.request(), tag: 1)
      let deadline = MonotonicInstant.now().advanced(by: .seconds(8))
      while !received.withLock({ $0 }), MonotonicInstant.now() < deadline {
        #expect(pool.run(timeout: .milliseconds(10)).isEmpty)
      }
      try pool.start(server.request(), tag: 2)
      let ended = pool.cancelAll().sorted { $0.tag < $1.tag }
      #expect(ended.map(\.tag) == [1, 2])
      #expect(ended.allSatisfy { $0.result.failure == .cancelled })
      #expect(ended.map(\.result.requestWasSent) == [true, false])
      #expect(pool.active == 0)
      #expect(pool.run(timeout: .zero).isEmpty)
      #expect(pool.cancelAll().isEmpty)
      var request = server.request()
      request.body = Array("answer".utf8)
      #expect(try perform(request, on: pool).status == 200)
    }
  }

  @Test func `Releasing a pool cancels its transfers`() throws {
    try withServer(Self.hang) { server in
      let pool = try makePool()
      try pool.start(server.request(), tag: 1)
      #expect(pool.run(timeout: .milliseconds(50)).isEmpty)
    }
  }
}
