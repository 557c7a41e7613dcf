// Purchases in app stores: which reports are taken, and what Purchasely receives of them.

import Domain
import Formats
import Partners
import Testing

@Suite("Purchases in app stores")
struct StorePurchaseTests {
  private static let now = Timestamp(unixSeconds: 1_800_000_000)

  /// The members of a complete report on a platform.
  private static func members(_ platform: StorePlatform) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "platform": .string(platform.rawValue), "store_product_id": "premium:monthly",
    ]
    switch platform {
    case .appStore: members["original_transaction_id"] = "310001721313211"
    case .playStore: members["purchase_token"] = "aaa.NNN-ccc_DDD"
    case .appGallery:
      members["purchase_token"] = "hms-token"
      members["subscription_id"] = "1571994327943.31F2D3C8"
      members["account_flag"] = 0
    }
    return members
  }

  private static func bytes(_ members: [String: JSONValue]) -> [UInt8] {
    JSONValue.object(
      members.sorted { $0.key < $1.key }.map { JSONValue.Member(name: $0.key, value: $0.value) }
    ).serialized()
  }

  private static func read(_ members: [String: JSONValue]) throws(StorePurchase.Fault) -> StorePurchase {
    try StorePurchase.read(bytes(members)).purchase
  }

  private static func fault(_ members: [String: JSONValue]) -> StorePurchase.Fault? {
    do throws(StorePurchase.Fault) {
      _ = try read(members)
      return nil
    } catch {
      return error
    }
  }

  /// What the join makes of a report, as Purchasely receives it.
  private static func sent(
    _ purchase: StorePurchase, forwardsContext: Bool = true
  ) throws -> (platform: String?, body: String) {
    let report = purchase.report(of: "jdo-1", at: now)
    var known = Purchase(report, reference: .counts, now: now)
    known.bringBack(to: now)
    let content = try Join.content(of: known, ProcessorRules()).get().content
    let destination = PurchaselyDestination(
      PurchaselySettings(apiKey: "key-1", forwardsContext: forwardsContext, userAgent: "receiptd/1"))
    let receipt = OutgoingReceipt(id: "rcp_1", processor: report.key.processor, body: [], sentAt: now)
    let headers = destination.headers(for: receipt)
    return (
      headers.first { $0.name == "X-PLATFORM-TYPE" }?.value,
      String(decoding: destination.body(for: content), as: UTF8.self)
    )
  }

  private static let sentBodies: [(StorePlatform, String)] = [
    (.appStore, #""original_transaction_id":"310001721313211""#),
    (.playStore, #""purchase_token":"aaa.NNN-ccc_DDD""#),
    (
      .appGallery,
      #""purchase_token":"hms-token","subscription_id":"1571994327943.31F2D3C8","account_flag":0"#
    ),
  ]

  @Test("Purchasely receives the fields of its table, and the platform as a header", arguments: sentBodies)
  func sent(platform: StorePlatform, proof: String) throws {
    let sent = try Self.sent(try Self.read(Self.members(platform)))
    #expect(sent.platform == platform.rawValue)
    #expect(sent.body == #"{"user_id":"jdo-1","store_product_id":"premium:monthly",\#(proof)}"#)
  }

  @Test func `Receipt data takes the place of the transaction, and is sent exactly as it came`() throws {
    var members = Self.members(.appStore)
    members["original_transaction_id"] = nil
    members["receipt_data"] = "ab+/cQ=="
    let purchase = try Self.read(members)
    let sent = try Self.sent(purchase)
    #expect(sent.platform == "APP_STORE")
    #expect(
      sent.body == #"{"user_id":"jdo-1","store_product_id":"premium:monthly","receipt_data":"ab+/cQ=="}"#)
    #expect(purchase.key.type == "receipt_data")
    #expect(purchase.key.id.text.utf8.count == 64)
    members["receipt_data"] = "ab+/cg=="
    #expect(try Self.read(members).key != purchase.key)
  }

  @Test(arguments: [true, false])
  func `A context is passed on unchanged, and its price does not count`(forwardsContext: Bool) throws {
    let blob = Base64.encode(Array(#"{"stripe_price_id":"stripe.monthly"}"#.utf8))
    var members = Self.members(.playStore)
    members["ply_context"] = .string(blob)
    let purchase = try Self.read(members)
    #expect(purchase.report(of: "jdo-1", at: Self.now).context == ContextBlob(text: blob, priceID: nil))
    let end = forwardsContext ? #","ply_context":"\#(blob)"}"# : "}"
    let body = try Self.sent(purchase, forwardsContext: forwardsContext).body
    #expect(body.hasSuffix(#""purchase_token":"aaa.NNN-ccc_DDD""# + end))
  }

  @Test func `The identity is the store's id, with the platform as the processor`() throws {
    let keys = try StorePlatform.allCases.map { try Self.read(Self.members($0)).key }
    #expect(keys.map(\.processor.text) == ["app_store", "play_store", "appgallery"])
    #expect(keys.map(\.type.text) == ["original_transaction", "purchase_token", "subscription"])
    #expect(keys.map(\.id.text) == ["310001721313211", "aaa.NNN-ccc_DDD", "1571994327943.31F2D3C8"])
    #expect(StorePlatform.allCases.allSatisfy { StorePlatform($0.processor) == $0 })
    #expect(StorePlatform(ProcessorName("stripe")) == nil)
  }

  @Test func `An id that is too long, or looks like an erased one, is identified by its digest`() throws {
    for token in [String(repeating: "t", count: 256), "erased:00"] {
      var members = Self.members(.playStore)
      members["purchase_token"] = .string(token)
      let purchase = try Self.read(members)
      #expect(purchase.key.id.text.utf8.count == 64)
      #expect(!Purchase.isErased(purchase.key.id))
      #expect(try Self.sent(purchase).body.contains(#""purchase_token":"\#(token)""#))
    }
    var members = Self.members(.playStore)
    members["purchase_token"] = .string(String(repeating: "t", count: 255))
    #expect(try Self.read(members).key.id.text.utf8.count == 255)
  }

  @Test(arguments: StorePlatform.allCases)
  func `Each required field is asked for by its name`(platform: StorePlatform) throws {
    let whole = Self.members(platform)
    for name in whole.keys {
      for absent in [nil, JSONValue.null] {
        var members = whole
        members[name] = absent
        let field = try #require(Self.fault(members)?.field, "\(name)")
        #expect(field.rawValue == name)
      }
    }
  }

  private static let foreignFields: [(StorePlatform, String)] = [
    (.appStore, "purchase_token"), (.appStore, "subscription_id"), (.appStore, "account_flag"),
    (.appStore, "stripe_price_id"), (.playStore, "original_transaction_id"), (.playStore, "receipt_data"),
    (.playStore, "subscription_id"), (.playStore, "account_flag"), (.playStore, "stripe_object_id"),
    (.appGallery, "original_transaction_id"), (.appGallery, "receipt_data"),
    (.appGallery, "stripe_object_type"),
  ]

  @Test(arguments: foreignFields)
  func `A field of another platform is refused by its name`(platform: StorePlatform, name: String) throws {
    var members = Self.members(platform)
    members[name] = name == "account_flag" ? 1 : "e30="
    let field = try #require(StorePurchase.Field(rawValue: name))
    #expect(Self.fault(members) == .foreign(field, platform))
  }

  @Test func `A transaction and receipt data exclude each other`() {
    var members = Self.members(.appStore)
    members["receipt_data"] = "e30="
    #expect(Self.fault(members) == .exclusive(.originalTransactionID, .receiptData))
    #expect(Self.fault(members)?.field == .receiptData)
  }

  private static let invalidValues: [(StorePlatform, String, JSONValue)] = [
    (.appStore, "platform", "STRIPE"), (.appStore, "platform", "app_store"), (.appStore, "platform", 1),
    (.appStore, "store_product_id", ""), (.appStore, "store_product_id", "a\nb"),
    (.appStore, "store_product_id", .string(String(repeating: "p", count: 256))),
    (.appStore, "original_transaction_id", 310_001), (.appStore, "original_transaction_id", ""),
    (.playStore, "purchase_token", "a b"), (.playStore, "purchase_token", ""),
    (.playStore, "purchase_token", ["x"]), (.playStore, "purchase_token", "é"),
    (
      .playStore, "purchase_token",
      .string(String(repeating: "t", count: StorePurchase.purchaseTokenBytesMax + 1))
    ),
    (.appGallery, "account_flag", "0"), (.appGallery, "account_flag", 2), (.appGallery, "account_flag", -1),
    (.appGallery, "account_flag", true), (.appGallery, "subscription_id", ["id": "x"]),
    (.playStore, "ply_context", 1), (.playStore, "user_id", 1),
  ]

  @Test("A value of another kind or length is refused by its field's name", arguments: invalidValues)
  func invalid(platform: StorePlatform, name: String, value: JSONValue) throws {
    var members = Self.members(platform)
    members[name] = value
    let fault = try #require(Self.fault(members))
    guard case .invalid(let field, let words) = fault else {
      Issue.record("\(fault)")
      return
    }
    #expect(field.rawValue == name)
    #expect(!words.isEmpty)
  }

  @Test func `Receipt data has a limit, and is base64`() throws {
    var members = Self.members(.appStore)
    members["original_transaction_id"] = nil
    let longest = String(repeating: "A", count: StorePurchase.receiptDataBytesMax)
    members["receipt_data"] = .string(longest)
    #expect(try Self.read(members).proof == .receiptData(longest))
    for text in [longest + "AAAA", "%%%%", "", "A"] {
      members["receipt_data"] = .string(text)
      #expect(Self.fault(members)?.field == .receiptData)
    }
  }

  @Test func `The context has the rules of a posted one`() {
    var members = Self.members(.playStore)
    for (text, fault) in [("%%%", PlyContext.Fault.notBase64), ("", .empty)] {
      members["ply_context"] = .string(text)
      #expect(Self.fault(members) == .context(fault))
    }
  }

  @Test func `A body that is no object, and a field with two values, are refused`() throws {
    for text in ["", "{", "[]", "\"x\"", "null"] {
      #expect(throws: StorePurchase.Fault.notJSON) { try StorePurchase.read(Array(text.utf8)) }
    }
    let text = String(decoding: Self.bytes(Self.members(.playStore)), as: UTF8.self).dropLast()
    #expect(throws: StorePurchase.Fault.differs(.purchaseToken)) {
      try StorePurchase.read(Array("\(text),\"purchase_token\":\"other\"}".utf8))
    }
    let same = try StorePurchase.read(Array("\(text),\"platform\":\"PLAY_STORE\",\"more\":{}}".utf8))
    #expect(same.purchase.platform == .playStore)
    #expect(same.users.isEmpty)
    let named = try StorePurchase.read(Array("\(text),\"user_id\":\"jdo-1\"}".utf8))
    #expect(named.users == ["jdo-1"])
  }

  @Test func `Purchasely takes the app stores; a webhook, which the relay signs, does not`() {
    for platform in StorePlatform.allCases {
      #expect(PurchaselyDestination.accepts(platform.processor))
      #expect(!WebhookDestination.accepts(platform.processor))
    }
    #expect(WebhookDestination.accepts("stripe"))
    #expect(!PurchaselyDestination.accepts("swedbank"))
  }
}
