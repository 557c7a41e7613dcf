// Helpers that run one transfer; every wait has a deadline.

import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing

/// Like the daemon: a write to a closed connection must not end the process.
private let ignoresSIGPIPE: Bool = {
  signal(SIGPIPE, SIG_IGN)
  return true
}()

func makePool(connectionsMax: Int = 4) throws -> TransferPool {
  #expect(ignoresSIGPIPE)
  return try TransferPool(connectionsMax: connectionsMax)
}

/// Runs the pool until this number of transfers has ended, for at most five minutes.
func finish(_ pool: TransferPool, count: Int = 1) -> [TransferCompletion] {
  let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
  var completions: [TransferCompletion] = []
  while completions.count < count, MonotonicInstant.now() < deadline {
    completions += pool.run(timeout: .seconds(1))
  }
  return completions
}

func perform(_ request: TransferRequest, on pool: TransferPool? = nil) throws -> TransferResult {
  let pool = try pool ?? makePool()
  try pool.start(request, tag: 7)
  let completions = finish(pool)
  #expect(completions.count == 1)
  #expect(completions.first?.tag == 7)
  #expect(pool.active == 0)
  return try #require(completions.first).result
}

/// Runs `body` with a server.
func withServer<Result>(
  _ script: @escaping @Sendable (ScriptedConnection) -> Void, _ body: (ScriptedServer) throws -> Result
) throws -> Result {
  let server = try ScriptedServer(script)
  defer { server.stop() }
  return try body(server)
}

extension ScriptedServer {
  func request(_ method: TransferRequest.Method = .post, timeout: Duration = .seconds(8)) -> TransferRequest {
    TransferRequest(
      method: method, url: "http://127.0.0.1:\(port)/receipts", body: Array("{}".utf8),
      timeout: timeout)
  }
}

/// The result of one request to a server that reads it, sends `answer` and closes.
func result(ofAnswer answer: String, timeout: Duration = .seconds(8)) throws -> TransferResult {
  try withServer({ connection in
    _ = connection.readRequest()
    connection.send(answer)
  }) { try perform($0.request(timeout: timeout)) }
}
