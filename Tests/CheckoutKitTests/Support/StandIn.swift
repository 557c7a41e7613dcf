// A server over real sockets that answers as a test decides.

import CheckoutKit
import Foundation
import HTTPServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Records requests and answers them, or holds them if there is no answer.
final class StandIn: RequestHandler {
  let requests = Guarded<[HTTPServer.Request]>([])
  private let answer: @Sendable (HTTPServer.Request) -> Response?
  private let held = Guarded<[Responder]>([])

  private init(_ answer: @escaping @Sendable (HTTPServer.Request) -> Response?) { self.answer = answer }

  func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: 1 << 20) }

  func handle(_ request: HTTPServer.Request, _ responder: Responder) {
    requests.withLock { $0.append(request) }
    guard let response = answer(request) else { return held.withLock { $0.append(responder) } }
    responder.respond(response)
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response { Response(status: 503) }

  private func releaseHeld() {
    let responders = held.withLock { held in
      defer { held = [] }
      return held
    }
    for responder in responders { responder.respond(Response(status: 503)) }
  }

  /// Runs a server while `body` runs.
  /// - Parameter answer: nil holds the request until `body` has ended.
  static func run(
    _ answer: @escaping @Sendable (HTTPServer.Request) -> Response?,
    _ body: (StandIn, UInt16) async throws -> Void
  ) async throws {
    let standIn = StandIn(answer)
    let server = try Server(ServerConfiguration(address: "127.0.0.1"), handler: standIn)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(standIn, server.port))
    } catch {
      result = .failure(error)
    }
    standIn.releaseHeld()
    server.stop(grace: .zero)
    try result.get()
  }
}

extension Response {
  init(_ status: Int = 200, json: String) {
    self.init(status: status, type: "application/json", body: Array(json.utf8))
  }
}

/// Sends requests to a local port by the kit's own transport, whatever their host is.
struct LocalTransport: Transport {
  let port: UInt16
  private let transport = URLSessionTransport()

  init(_ port: UInt16) { self.port = port }

  func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
    guard let url = request.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
      throw URLError(.badURL)
    }
    (parts.scheme, parts.host, parts.port) = ("http", "127.0.0.1", Int(port))
    var local = request
    local.url = parts.url
    return try await transport.send(local)
  }
}
