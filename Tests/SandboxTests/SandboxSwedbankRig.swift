// A merchant's account at the simulated Swedbank Pay, without a server, for one test.

import Formats
import HTTPServer
import Sandbox
import Testing

final class SandboxSwedbankRig {
  static let base = "http://127.0.0.1:1"
  static let now: Int64 = 1_800_000_000_000

  /// What an SDK sends, completed by the merchant's server.
  static func purchase(_ reference: String, _ changes: [(String, JSONValue)] = []) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "operation", value: "Purchase"), .init(name: "currency", value: "SEK"),
      .init(name: "amount", value: 1000), .init(name: "vatAmount", value: 200),
      .init(name: "description", value: ""), .init(name: "userAgent", value: "SwedbankPaySDK-iOS/5.0.2"),
      .init(name: "language", value: "sv-SE"), .init(name: "generateRecurrenceToken", value: false),
      .init(
        name: "urls",
        value: [
          "hostUrls": ["https://example.com/"], "completeUrl": "https://example.com/complete",
          "callbackUrl": "https://relay.example/callback",
        ]),
      .init(name: "payeeInfo", value: ["payeeId": "payee-1", "payeeReference": .string(reference)]),
    ]
    for (name, value) in changes {
      members.removeAll { $0.name == name }
      members.append(.init(name: name, value: value))
    }
    return ["paymentorder": .object(members)]
  }

  static let newest = "application/json;version=3.1"

  var account: SandboxSwedbankAccount

  init(
    _ account: SandboxSwedbankAccount = SandboxSwedbankAccount(base: SandboxSwedbankRig.base, token: "secret")
  ) {
    self.account = account
  }

  func perform(_ action: SandboxSwedbankAction, on id: String) -> Bool {
    account.perform(action, on: id, now: Self.now)
  }

  func popCallbacks() -> [SandboxSwedbankCallback] { account.popCallbacks() }

  func send(
    _ method: String, _ target: String, _ body: JSONValue? = nil, type: String = "application/json",
    token: String? = "secret"
  ) throws -> (status: Int, body: JSONValue) {
    var headers = [(name: "Content-Type", value: type), (name: "User-Agent", value: "relay/1")]
    if let token { headers.append((name: "Authorization", value: "Bearer \(token)")) }
    let request = SandboxRequest(method, target, headers: headers, body: body?.serialized() ?? [])
    let response = account.answer(to: request, now: Self.now).response
    return (response.status, try JSONValue(parsing: response.body))
  }

  /// Creates an order, and returns its answer.
  func create(
    _ reference: String = "ref1", _ changes: [(String, JSONValue)] = [], type: String = "application/json"
  ) throws -> JSONValue {
    let answer = try send("POST", "/psp/paymentorders", Self.purchase(reference, changes), type: type)
    try #require(answer.status == 201, "\(answer.body)")
    return answer.body
  }
}
