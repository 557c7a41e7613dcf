// The requirements for every merchant backend: `MerchantBackend` as executable tests.

import Domain
import Partners
import Testing

/// Bodies and parameters that no SDK sends.
private let strange: [[UInt8]] = [
  [], [0], Array("{".utf8), Array("{}".utf8), Array("[]".utf8), Array("null".utf8),
  Array(repeating: UInt8(ascii: "["), count: 5000), [0xFF, 0xFE, 0x00, 0x80],
]
private let hostile = ["", "..", "../x?y#z", "@evil.test/x", "//evil.test", "é%2F\r\nX: y", "\u{0}"]

@Suite("The conformance of merchant backends")
struct BackendConformanceTests {
  typealias Fixture = ProcessorFixture

  @Test(arguments: Fixture.all)
  func `A processor with endpoints declares the type of its backend, and has one`(_ fixture: Fixture) throws {
    let kind = type(of: fixture.processor)
    guard !kind.backendEndpoints.isEmpty else {
      #expect(kind.backendType == nil)
      #expect(fixture.processor.backend == nil)
      return
    }
    let backend = try #require(fixture.processor.backend)
    #expect(kind.backendType == type(of: backend))
    #expect(backend.base.hasPrefix("https://"))
    #expect(!backend.base.hasSuffix("/"))
  }

  @Test(arguments: Fixture.all)
  func `Any request has a first step, and no call leaves the backend's host`(_ fixture: Fixture) {
    guard let backend = fixture.processor.backend else { return }
    for endpoint in type(of: fixture.processor).backendEndpoints {
      for (body, text) in strange.flatMap({ body in hostile.map { (body, $0) } }) {
        let names = endpoint.path.split(separator: "/").filter { $0.hasPrefix("{") }
          .map { String($0.dropFirst().dropLast()) }
        let request = BackendRequest(
          endpoint, parameters: Dictionary(names.map { ($0, text) }) { first, _ in first }, body: body,
          contentType: text.isEmpty ? nil : "application/json", user: "u1",
          rootPath: "/v1/app/\(fixture.name)/",
          userAgent: text, reference: String(repeating: "R", count: 30), receivedAt: readAt)
        switch backend.respond(to: request) {
        case .call(let call, _), .cached(let call, _):
          #expect(call.url(at: backend.base).hasPrefix(backend.base + "/"))
          #expect(call.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(call.target)")
          for secret in fixture.secrets { #expect(!call.target.contains(secret)) }
        case .answer(let answer): #expect(200..<600 ~= answer.status)
        case .capture, .findContext, .findPayment, .findCustomer, .acquireCustomer, .findCached, .store:
          break
        }
      }
    }
  }

  @Test(arguments: Fixture.all)
  func `Every fault of the relay has a form`(_ fixture: Fixture) throws {
    guard let backend = type(of: fixture.processor).backendType else { return }
    for status in [400, 401, 403, 404, 405, 408, 413, 422, 429, 500, 501, 502, 503] {
      let fault = BackendFault(slug: "a-slug", title: "A title", status: status, detail: "A \"detail\".\n")
      guard let answer = backend.rephrase(fault) else { continue }
      #expect(answer.status == status)
      #expect(!answer.contentType.isEmpty)
    }
  }
}
