// A server's error text is for a log: no way of printing an error shows it to a customer.

import CheckoutKit
import Foundation
import Testing

@Suite struct OperatorTextTests {
  private static let secret = "Add apps.ios.links.checkout"
  private static let text = OperatorText(secret)

  private static let errors: [RelayError] = [
    .http(HTTPFailure(status: 422, body: text)), .http(HTTPFailure(status: 503, body: text)),
    .network(code: -1009, description: text), .network(code: -1022, description: text),
    .unexpectedAnswer(status: 200, body: text), .encoding(text), .noToken(text), .notHTTP, .timedOut,
    .cancelled,
  ]

  @Test(arguments: errors)
  func `No printed form of an error has an operator's text`(_ error: RelayError) {
    var dumped = ""
    dump(error, to: &dumped)
    for printed in [
      error.localizedDescription, "\(error)", String(reflecting: error), dumped,
      (error as NSError).localizedDescription, "\(Self.text)", String(reflecting: Self.text),
    ] {
      #expect(!printed.contains(Self.secret))
    }
  }

  @Test(arguments: errors)
  func `An error shows a customer one of three sentences`(_ error: RelayError) {
    #expect(RelayError.Advice.allCases.contains(error.advice))
    let sentences = Set(Self.errors.map(\.localizedDescription))
    #expect(sentences.count == RelayError.Advice.allCases.count)
    #expect(!error.logText.forLog.isEmpty)
  }

  @Test func `A problem document is kept unchanged for the log`() async throws {
    let problem =
      #"{"type":"urn:receiptd:problem:unknown-price","title":"\#(Self.secret)","detail":"\#(Self.secret)"}"#
    let client = try Example.client(
      ScriptedTransport(.answer(422, problem, headers: ["Content-Type": "application/problem+json"])))
    let error = try await #require(throws: RelayError.self) { try await client.post() }
    #expect(!"\(error)".contains(Self.secret))
    #expect(error.logText.forLog.contains(Self.secret))
    guard case .http(let failure) = error else { return unexpected(error) }
    #expect(failure.problem?.title?.forLog == Self.secret)
    #expect(failure.body.forLog == problem)
  }
}
