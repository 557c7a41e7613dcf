// Requests as sent, and requests that are refused.

import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing

@Suite("Requests", .serialized)
struct ClientRequestTests {
  /// The request as the server read it.
  private func sent(_ change: (inout TransferRequest) -> Void) throws -> String {
    let seen = Monitor<String?>(nil)
    return try withServer({ connection in
      let request = connection.readRequest()
      seen.update { $0 = request }
      connection.answer()
    }) { server in
      var request = server.request()
      change(&request)
      #expect(try perform(request).status == 200)
      return try #require(seen.withLock { $0 })
    }
  }

  @Test func `A POST carries exactly its headers and its body`() throws {
    let body = "{\"nul\":\"\0\",\"text\":\"é\"}"
    let text = try sent {
      $0.headers = [.init("Content-Type", "application/json"), .init("X-API-KEY", "k"), .init("X-Empty", "")]
      $0.body = Array(body.utf8)
    }
    #expect(text.hasPrefix("POST /receipts HTTP/1.1\r\nHost: 127.0.0.1:"))
    let head = try #require(text.firstRange(of: "\r\n\r\n")).lowerBound
    let fields = text[..<head].split(separator: "\r\n").dropFirst(2).sorted()
    #expect(
      fields == [
        "Accept-Encoding: identity", "Accept: */*", "Content-Length: \(body.utf8.count)",
        "Content-Type: application/json", "X-API-KEY: k",
        "X-Empty:",
      ])
    #expect(text.hasSuffix("\r\n\r\n" + body))
  }

  @Test func `A large body is sent without waiting for a 100, and without an invented type`() throws {
    let text = try sent { $0.body = [UInt8](repeating: UInt8(ascii: "x"), count: 2 << 20) }
    #expect(text.contains("Content-Length: 2097152\r\n"))
    #expect(!text.lowercased().contains("expect:"))
    #expect(!text.lowercased().contains("content-type:"))
    #expect(text.utf8.suffix(2 << 20).allSatisfy { $0 == UInt8(ascii: "x") })
  }

  @Test func `A PATCH differs from a POST in its method only, and the next POST is one again`() throws {
    let pool = try makePool(connectionsMax: 1)
    let seen = Monitor<[String]>([])
    try withServer({ connection in
      while let request = connection.readRequest() {
        seen.update { $0.append(request) }
        connection.answer()
      }
    }) { server in
      for method in [TransferRequest.Method.post, .patch, .post, .get] {
        let result = try perform(server.request(method), on: pool)
        #expect(result.status == 200)
      }
    }
    let requests = seen.withLock { $0 }
    #expect(requests.map { $0.prefix { $0 != " " } } == ["POST", "PATCH", "POST", "GET"])
    #expect(requests[1] == "PATCH" + requests[0].dropFirst("POST".count))
    #expect(requests[2] == requests[0])
    #expect(requests[3].hasSuffix("\r\n\r\n"))
  }

  @Test func `An empty POST has a length of 0, and a GET has no body`() throws {
    #expect(try sent { $0.body = [] }.contains("Content-Length: 0\r\n"))
    let get = try sent { $0.method = .get }
    #expect(get.hasPrefix("GET /receipts HTTP/1.1\r\n"))
    #expect(get.hasSuffix("\r\n\r\n"))
    #expect(!get.lowercased().contains("content-length"))
  }

  @Test(
    "A URL that is not https or local http, or has a password, is refused before any connection",
    arguments: [
      "http://192.0.2.1/", "http://example.com/", "http://localhost.example.com/", "http://128.0.0.1/",
      "http://127.0.0.1.example.com/", "http://[::2]/", "https://user@example.com/",
      "https://user:password@example.com/", "https://:password@example.com/",
      "http://user:password@127.0.0.1/",
      "ftp://127.0.0.1/", "file:///etc/passwd", "//127.0.0.1/", "127.0.0.1", "localhost/receipts", "", " ",
      "https://", "https:///path", "https:/path", "http://127.0.0.1 /", "https://example.com/\r\nX: y",
      "https://example.com/\0", "http://127.0.0.1:99999/", "http://127.0.0.1:x/",
    ])
  func refusedURLs(url: String) throws {
    let pool = try makePool()
    #expect(throws: TransferFailure.refusedURL) {
      try pool.start(TransferRequest(method: .post, url: url), tag: 1)
    }
    #expect(pool.active == 0)
    #expect(pool.run(timeout: .zero).isEmpty)
  }

  @Test(arguments: ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "LOCALHOST"])
  func `http is allowed to every spelling of this machine`(host: String) throws {
    let result = try withServer({ connection in
      _ = connection.readRequest()
      connection.answer()
    }) { try perform(TransferRequest(method: .get, url: "HTTP://\(host):\($0.port)/")) }
    #expect(result.status == 200)
  }

  @Test func `http to ::1 is allowed, with or without a listener`() throws {
    let (descriptor, port) = try openSocket()
    defer { Glibc.close(descriptor) }
    let result = try perform(TransferRequest(method: .get, url: "http://[0:0::1]:\(port)/"))
    #expect(result.failure == .connectFailed)
    #expect(!result.requestWasSent)
  }

  @Test(arguments: [
    TransferHeader("", "x"), .init("X Y", "x"), .init("X:", "x"), .init("X\r\nY", "x"), .init("Ü", "x"),
    .init("X", "a\r\nY: b"), .init("X", "a\nb"), .init("X", "a\0"), .init("X", "a\u{7f}"),
    .init("Content-Length", "0"), .init("transfer-encoding", "chunked"), .init("EXPECT", "100-continue"),
  ])
  func `A header field that would break its line or the framing is refused`(header: TransferHeader) throws {
    let pool = try makePool()
    #expect(throws: TransferFailure.refusedHeader) {
      try pool.start(TransferRequest(method: .post, url: "https://example.com/", headers: [header]), tag: 1)
    }
    #expect(pool.active == 0)
  }
}
