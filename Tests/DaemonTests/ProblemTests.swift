// Errors as clients see them, and request ids.

import Formats
import Partners
import Testing

@testable import Daemon
@testable import HTTPServer
@testable import Service

@Suite("Problem documents") struct ProblemTests {
  static let all: [Problem] =
    [
      .notFound, .unknownApp, .unknownContext, .malformedRequest, .wrongMethod("GET, HEAD"), .unauthorized,
      .wrongMediaType, .codedBody, .headTooLarge, .tooLarge(65_536), .tooSlow, .busy, .storeFailed, .stopping,
      .internalFault,
    ] + SignatureFault.allCases.map { .signature($0) }
    + ([
      .notJSON, .notForm, .blobMissing, .userMissing, .usersDiffer, .userNotText, .wrongType(""),
      .wrongType("user_id"), .wrongType("ply_context"), .blob(.empty), .blob(.notBase64), .blob(.tooLong),
    ] as [ContextPost.Fault]).map(\.problem)

  @Test(arguments: all)
  func `A problem has the members of RFC 9457 and the request's id, and no others`(problem: Problem) throws {
    let response = problem.response(requestID: "req_1")
    #expect(response.status == problem.status)
    #expect((400..<600).contains(problem.status))
    #expect(response.headers.contains { $0.name == "Content-Type" && $0.value == "application/problem+json" })
    #expect(response.headers.contains { $0.name == "Cache-Control" && $0.value == "no-store" })
    let document = try JSONValue(parsing: response.body)
    guard case .object(let members) = document else {
      Issue.record("no object")
      return
    }
    #expect(Set(members.map(\.name)) == ["type", "title", "status", "detail", "request_id"])
    #expect(document["type"] == .string("urn:receiptd:problem:\(problem.slug)"))
    #expect(document["status"] == .integer(Int64(problem.status)))
    #expect(document["request_id"] == "req_1")
    #expect(document["title"]?.stringValue?.isEmpty == false)
  }

  @Test(arguments: all)
  func `A problem gives the remedy in sentences, and nothing internal (R7)`(problem: Problem) {
    #expect(problem.detail.hasSuffix("."))
    #expect(problem.detail.count > 20)
    #expect(problem.slug.allSatisfy { $0.isLowercase || $0 == "-" })
    for word in ["sql", "SELECT", "/var", "/etc", ".swift", "errno", "whsec", "database", "queue", "thread"] {
      #expect(!problem.detail.lowercased().contains(word.lowercased()))
    }
  }

  @Test func `Retryable problems have Retry-After, and missing keys have WWW-Authenticate`() {
    for problem in [Problem.busy, .storeFailed, .stopping] {
      #expect(problem.status == 503)
      #expect(problem.headers["Retry-After"].flatMap { Int($0) } ?? 0 > 0)
    }
    #expect(Problem.unauthorized.headers["WWW-Authenticate"] == "Bearer")
    #expect(Problem.wrongMethod("POST").headers["Allow"] == "POST")
  }

  @Test func `A forger cannot distinguish a wrong secret from a wrong form (R6)`() {
    #expect(Problem.signature(.mismatch) == .signature(.malformed))
    #expect(Problem.signature(.stale) == .signature(.future))
    let ofSignatures = Set(SignatureFault.allCases).subtracting([.path, .sender])
    #expect(ofSignatures.allSatisfy { Problem.signature($0).status == 400 })
  }

  @Test func `A wrong secret in a path is a path that does not exist, and a foreign sender is forbidden`() {
    #expect(Problem.signature(.path) == .notFound)
    #expect(Problem.signature(.sender).status == 403)
  }
}

@Suite("The ids of requests") struct RequestIDTests {
  private static func id(_ given: String, _ ids: RequestIDs = RequestIDs()) -> String {
    ids.id(for: RequestSamples.head("GET", "/", [("X-Request-Id", given)]))
  }

  @Test(arguments: ["a", "A-b_c.9", String(repeating: "x", count: 128)])
  func `A well-formed id is kept`(given: String) { #expect(Self.id(given) == given) }

  @Test(arguments: [
    "", " ", "a b", "a\r\nX: y", "é", "a/b", "a\"b", "<script>", String(repeating: "x", count: 129),
  ])
  func `Any other is replaced`(given: String) {
    let id = Self.id(given)
    #expect(id != given)
    #expect(id.hasPrefix("req_"))
    #expect(id.utf8.count == 36)
    #expect(Self.id(id) == id)
  }

  @Test func `Each request without an id gets a unique one, in every run`() {
    let (one, other) = (RequestIDs(), RequestIDs())
    let ids = (0..<1000).flatMap { _ in [one.id(for: nil), other.id(for: nil)] }
    #expect(Set(ids).count == 2000)
    let undecodable = RequestSamples.rawHead("GET", "/", [("X-Request-Id", [0xFF])])
    #expect(one.id(for: undecodable).hasPrefix("req_"))
  }
}
