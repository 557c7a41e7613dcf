// Reads payment orders and their tokens for apps. Pure; any thread.

internal import Domain
internal import Formats

extension SwedbankBackend {
  /// The version of the API whose payment orders have a status, also those that were created without it
  /// (https://developer.swedbankpay.com/checkout-v3/technical-reference/status-models).
  static let currentVersion = ["Content-Type": "application/json;version=3.1"]

  private static let expansionsMax = 16

  /// A payment order with some of its resources.
  func expand(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.expand else { return .answer(SwedbankProblem.disabled("expand")) }
    return read(request, SwedbankRequestShapes.expand) { root in
      var names: [String] = []
      root.member("expand")?.forEachElement { names.append($0.string ?? "") }
      guard names.count <= Self.expansionsMax, names.allSatisfy(Self.isResourceName) else {
        return .answer(
          SwedbankProblem.badRequest(
            "expand must have at most \(Self.expansionsMax) names of resources, such as paid.",
            source: "expand"))
      }
      let query = names.isEmpty ? "" : "?$expand=" + names.joined(separator: ",")
      return withOrder(SwedbankOrderPath(resource: root.member("resource")?.string), of: user) { order in
        call("GET", order.text + query, for: request) { .answer(answer($0)) }
      }
    }
  }

  private static func isResourceName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
  }

  /// The types of tokens that an app learns of, as with Swedbank Pay's example backend. Tokens of stored
  /// cards belong to payers.
  private static let tokenTypes = ["recurrence", "unscheduled"]

  /// Which tokens a payment generated: `{"recurrence":true}`. Never their values.
  func listTokenTypes(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.tokens else { return .answer(SwedbankProblem.disabled("tokens")) }
    return read(request, SwedbankRequestShapes.tokens) { root in
      withOrder(SwedbankOrderPath(resource: root.member("resource")?.string), of: user) { order in
        call("GET", order.text + SwedbankQueries.expansion, for: request, headers: Self.currentVersion) {
          success in
          let types = (JSONDocument.read(success.body) { SwedbankResource($0)?.tokenTypes } ?? nil) ?? []
          let flags = Self.tokenTypes.filter(types.contains).map {
            JSONValue.Member(name: $0, value: .bool(true))
          }
          guard !flags.isEmpty else {
            return .answer(SwedbankProblem.notFound("The payment generated no token."))
          }
          return .answer(
            SwedbankSuccess(status: 200, body: JSONValue.object(flags).serialized()).answer())
        }
      }
    }
  }
}
