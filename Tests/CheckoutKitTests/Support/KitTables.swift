// What all kits answer: the tests of the kits for Android and JavaScript read the same tables.

import CheckoutKit
import Foundation
import Testing

/// The files in `Tests/KitTables`.
enum KitTables {
  struct Links: Decodable {
    let links: [Link]
    let pages: [Page]
    let storefront: [StorefrontPage]
    let guide: [StorefrontPage]
    let orders: [Order]
    let leaving: [Leaving]
  }

  /// A link that opens the app: one of plan, return and claim, or none.
  struct Link: Decodable, Sendable, CustomTestStringConvertible {
    let url: String
    let plan: String?
    let fault: String?
    let `return`: [String: String]?
    let claim: String?
    var testDescription: String { url }
  }

  struct Page: Decodable, Sendable {
    let url: String
    let opened: String?
  }

  struct StorefrontPage: Decodable, Sendable, CustomTestStringConvertible {
    let url: String
    let route: String?
    let isConfirmation: Bool?
    var testDescription: String { url }
  }

  struct Order: Decodable, Sendable {
    let url: String
    let order: String?
  }

  struct Leaving: Decodable, Sendable {
    let url: String
    let kind: String
  }

  struct Relay: Decodable {
    let users: [User]
    let contextIds: [ContextID]
    let status: [Status]
    let notStatus: [String]
    let claims: [Claim]
    let posts: [Post]
    let contexts: [Context]
  }

  struct User: Decodable, Sendable {
    let id: String
    /// Nil for an id that no relay accepts.
    let segment: String?
  }

  struct ContextID: Decodable, Sendable {
    let id: String
    let isValid: Bool
  }

  struct Status: Decodable, Sendable {
    let state: String
    let paid: Bool?
    let progress: String
  }

  /// The relay's problem or another body; without a status there is no network.
  struct Answer: Decodable, Sendable {
    let status: Int?
    let problem: String?
    let body: String?

    var step: ScriptedTransport.Step {
      guard let status else { return ScriptedTransport.offline }
      if let problem { return OutboxBed.problem(status, problem) }
      // A proxy may send problems, too.
      return .answer(status, body ?? "", headers: ["Content-Type": "application/problem+json"])
    }
  }

  struct Claim: Decodable, Sendable {
    let answer: Answer
    /// Nil if the answer decides nothing.
    let result: String?

    private enum CodingKeys: CodingKey { case result }

    init(from decoder: any Decoder) throws {
      answer = try Answer(from: decoder)
      result = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .result)
    }
  }

  struct Post: Decodable, Sendable {
    let answer: Answer
    /// The age of the context.
    let days: Int
    let isKept: Bool

    private enum CodingKeys: CodingKey { case days, after }

    init(from decoder: any Decoder) throws {
      answer = try Answer(from: decoder)
      let row = try decoder.container(keyedBy: CodingKeys.self)
      days = try row.decodeIfPresent(Int.self, forKey: .days) ?? 0
      isKept = try row.decode(String.self, forKey: .after) == "kept"
    }
  }

  /// What a kit makes of the SDK's attributes.
  struct Context: Decodable, Sendable {
    let type: String?
    let attributes: [String: Attribute]
    /// Without the platform.
    let context: [String: String]
  }

  struct Attribute: Decodable, Sendable {
    /// Nil for a value that is not a string.
    let text: String?

    init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
  }

  static func links() throws -> Links { try read("links") }
  static func relay() throws -> Relay { try read("relay") }

  private static func read<Tables: Decodable>(_ name: String) throws -> Tables {
    let folder = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = folder.appendingPathComponent("KitTables/\(name).json")
    return try JSONDecoder().decode(Tables.self, from: Data(contentsOf: file))
  }
}
