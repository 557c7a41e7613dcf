// The kit's own transport over real sockets.

import CheckoutKit
import Foundation
import HTTPServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct URLSessionTransportTests {
  private static func client(_ port: UInt16) throws -> RelayClient {
    try Example.client(
      URLSessionTransport(), retries: .none, clock: SystemClock(), relay: "http://127.0.0.1:\(port)")
  }

  @Test("PL04, PL05: over a socket a post arrives unchanged, and each status has its result")
  func talks() async throws {
    let statuses = [200, 204, 299, 301, 400, 404, 500]
    let rest = Guarded(statuses)
    try await StandIn.run { request in
      if request.head.path.hasPrefix("/elsewhere") { return Response(status: 200, text: "followed") }
      let status = rest.withLock { $0.removeFirst() }
      var response = Response(status: status, text: status == 204 ? "" : "text \(status)")
      if status == 301 { response.headers.append(("Location", "/elsewhere")) }
      return response
    } _: { standIn, port in
      let client = try Self.client(port)
      for status in statuses {
        do throws(RelayError) {
          let data = try await client.postIgnoringAnswer(Example.context, userID: "a/b é")
          #expect((200...299).contains(status))
          #expect(data == (status == 204 ? nil : Data("text \(status)".utf8)))
        } catch {
          guard case .http(let failure) = error else { return unexpected(error) }
          #expect(failure.status == status)
          // The body of a redirect does not matter.
          if status != 301 { #expect(failure.body == "text \(status)") }
        }
      }
      let requests = standIn.requests.withLock(\.self)
      #expect(requests.count == statuses.count, "the redirect was not followed")
      for request in requests {
        #expect(request.head.method == "POST")
        #expect(request.head.path == "/v1/ios/users/a%2Fb%20%C3%A9/contexts")
        #expect(request.head.header("Content-Type") == "application/json; charset=utf-8")
        #expect(request.head.header("X-API-KEY") == "key-1")
        let body = try JSONDecoder().decode([String: String].self, from: Data(request.body))
        #expect(try body == ["ply_context": Example.context.plyContext()])
      }
    }
  }

  @Test func `The caller's configuration is not changed`() {
    let configuration = URLSessionConfiguration.default
    let cookies = HTTPCookieStorage.shared
    configuration.httpCookieStorage = cookies
    configuration.httpShouldSetCookies = true
    configuration.urlCache = .shared
    configuration.urlCredentialStorage = .shared
    _ = URLSessionTransport(configuration: configuration)
    #expect(configuration.httpCookieStorage === cookies)
    #expect(configuration.httpShouldSetCookies)
    #expect(configuration.urlCache === URLCache.shared)
    #expect(configuration.urlCredentialStorage === URLCredentialStorage.shared)
  }

  @Test func `PL05: a refused connection is a network error`() async throws {
    let port = try ReservedPort()
    let client = try Self.client(port.number)
    let error = await #expect(throws: RelayError.self) { try await client.post("u") }
    guard case .network = error else { return unexpected(error) }
    #expect(error?.isTransient == true)
  }

  @Test("A request under way ends with its task, and so does one that begins in a cancelled task")
  func endsWithItsTask() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    try await StandIn.run { _ in
      began.continuation.yield()
      return nil
    } _: { _, port in
      // The default minute can pass before a busy machine continues this test. On Linux a request's own
      // time-out does not replace that of the configuration.
      let configuration = URLSessionConfiguration.default
      configuration.timeoutIntervalForRequest = 24 * 60 * 60
      let transport = URLSessionTransport(configuration: configuration)
      let request = URLRequest(url: try url("http://127.0.0.1:\(port)/"))
      let task = Task { _ = try await transport.send(request) }
      for await _ in began.stream { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let late = Task {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        _ = try await transport.send(request)
      }
      await #expect(throws: CancellationError.self) { try await late.value }
    }
  }

  @Test func `An answer over 1 MiB is refused, and cookies are not stored`() async throws {
    try await StandIn.run { request in
      if request.head.path == "/long" {
        return Response(status: 200, type: "text/plain", body: [UInt8](repeating: 65, count: 3 << 20))
      }
      var response = Response(status: 200, text: request.head.header("Cookie") ?? "none")
      response.headers.append(("Set-Cookie", "a=b"))
      return response
    } _: { _, port in
      let transport = URLSessionTransport()
      await #expect(throws: URLError.self) {
        try await transport.send(URLRequest(url: try url("http://127.0.0.1:\(port)/long")))
      }
      for _ in 0..<2 {
        let (body, _) = try await transport.send(URLRequest(url: try url("http://127.0.0.1:\(port)/")))
        #expect(body == Data("none".utf8))
      }
    }
  }
}
