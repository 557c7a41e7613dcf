// The merchant's own backend as a destination, in the form of the Standard Webhooks specification
// (https://github.com/standard-webhooks/standard-webhooks). Pure; any thread.

internal import Cryptography
public import Domain
internal import Formats
internal import Platform

/// One app's webhook.
public struct WebhookSettings: Sendable, Equatable {
  public var app: AppSlug
  public var url: String
  /// At least one; several while one is being replaced. The receiver accepts a message if it knows one of
  /// them.
  public var keys: [WebhookKey]
  /// Whether `ply_context` is sent, if there is one.
  public var forwardsContext: Bool
  /// The value of `User-Agent`.
  public var userAgent: String
  public var certificates = DestinationCertificates()

  public init(
    app: AppSlug, url: String, keys: [WebhookKey], forwardsContext: Bool = true, userAgent: String
  ) {
    self.app = app
    self.url = url
    self.keys = keys
    self.forwardsContext = forwardsContext
    self.userAgent = userAgent
  }
}

/// A signed `POST` to the merchant's backend. Repeats of a receipt have the same `webhook-id`.
public struct WebhookDestination: ReceiptDestination {
  public static let name: DestinationName = "webhook"
  public static let help = DestinationHelp(
    settings: ["url", "secrets"], secret: "secrets",
    missing: "If a purchase does not show up there, look for the import id in its log: it is the webhook-id "
      + "of the message.",
    secondReceipt: "Your backend gets a second message about the same purchase, with another webhook-id. It "
      + "must give the purchase to the user in the newer message, and take it from the former user.")

  /// The receiver of a signed message may deliver what it says was bought. The relay cannot ask the app
  /// stores, so it signs nothing of them.
  public static func accepts(_ processor: ProcessorName) -> Bool { StorePlatform(processor) == nil }

  private let settings: WebhookSettings
  private let signer: WebhookSigner

  /// - Throws: an error if the system has no HMAC.
  public init(_ settings: WebhookSettings) throws {
    self.settings = settings
    signer = try WebhookSigner(settings.keys)
  }

  public static func == (left: Self, right: Self) -> Bool { left.settings == right.settings }

  public var url: String { settings.url }

  public var certificates: DestinationCertificates { settings.certificates }

  public func headers(for receipt: OutgoingReceipt) -> [(name: String, value: String)] {
    headers(id: Self.messageID(of: receipt), sentAt: receipt.sentAt, body: receipt.body)
  }

  private func headers(
    id: String, sentAt: Timestamp, body: [UInt8]
  ) -> [(name: String, value: String)] {
    let timestamp = String(sentAt.unixMilliseconds / 1000)
    return [
      ("Content-Type", "application/json"), ("User-Agent", settings.userAgent),
      ("webhook-id", id), ("webhook-timestamp", timestamp),
      ("webhook-signature", signer.signature(id: id, timestamp: timestamp, body: body)),
    ]
  }

  /// Each attempt has another claim, so its id is that of the message.
  public func announcement(
    of claim: ClaimAnnouncement, url: String?, sentAt: Timestamp
  ) -> (headers: [(name: String, value: String)], body: [UInt8])? {
    let purchase = claim.purchase
    func time(_ moment: Timestamp) -> String { RFC3339.string(unixMilliseconds: moment.unixMilliseconds) }
    let body = JSONValue.object([
      .init(name: "type", value: "purchase.unclaimed"),
      .init(name: "timestamp", value: .string(time(purchase.boughtAt ?? purchase.createdAt))),
      .init(
        name: "data",
        value: [
          "app": .string(settings.app.text), "receipt_id": .string(claim.receiptID.text),
          "processor": .string(purchase.key.processor.text), "object_type": .string(purchase.key.type.text),
          "object_id": .string(purchase.key.id.text), "session_id": .optional(purchase.sessionID?.text),
          "customer_id": .optional(purchase.customerID?.text),
          "price_id": .optional(purchase.prices.first?.text), "claim_url": .optional(url),
          "token": .string(claim.token.text), "expires_at": .string(time(claim.claim.expiresAt)),
        ]),
    ]).serialized()
    return (headers(id: claim.claim.id.text, sentAt: sentAt, body: body), body)
  }

  /// Receivers drop a message whose id they know, so a reversal has another one than its purchase.
  private static func messageID(of receipt: OutgoingReceipt) -> String {
    receipt.id.text + (receipt.isReversal ? "-reversed" : "")
  }

  public func importID(of receipt: OutgoingReceipt) -> String? { Self.messageID(of: receipt) }

  /// `timestamp` is when the purchase was known to be bought, so that every attempt sends the same bytes.
  public func body(for receipt: ReceiptContent) -> [UInt8] { body(for: receipt, type: "purchase.completed") }

  public func reversal(of receipt: ReceiptContent) -> [UInt8]? {
    body(for: receipt, type: "purchase.reversed")
  }

  private func body(for receipt: ReceiptContent, type: String) -> [UInt8] {
    var data: [JSONValue.Member] = [
      .init(name: "app", value: .string(settings.app.text)),
      .init(name: "user_id", value: .string(receipt.userID.text)),
      .init(name: "processor", value: .string(receipt.key.processor.text)),
      .init(name: "object_type", value: .string(receipt.key.type.text)),
      .init(name: "object_id", value: .string(receipt.key.id.text)),
    ]
    func add(_ name: String, _ text: String?) {
      if let text { data.append(.init(name: name, value: .string(text))) }
    }
    add("price_id", receipt.priceID?.text)
    add("amount", receipt.payment?.amount)
    add("currency", receipt.payment?.currency)
    if let isCaptured = receipt.payment?.isCaptured {
      data.append(.init(name: "captured", value: .bool(isCaptured)))
    }
    if settings.forwardsContext {
      add("ply_context", receipt.context)
      add("context_id", receipt.contextID?.text)
    }
    var members: [JSONValue.Member] = [.init(name: "type", value: .string(type))]
    if let boughtAt = receipt.boughtAt {
      let text = RFC3339.string(unixMilliseconds: boughtAt.unixMilliseconds)
      members.append(.init(name: "timestamp", value: .string(text)))
    }
    members.append(.init(name: "data", value: .object(data)))
    return JSONValue.object(members).serialized()
  }

  /// Any 2xx answer accepts the message, whatever its body: the specification gives the body no meaning.
  public func verdict(on answer: DeliveryAnswer, now: Timestamp) -> Verdict {
    HTTPVerdict.of(answer, now: now) { _ in .accepted(importID: nil) }
  }
}
