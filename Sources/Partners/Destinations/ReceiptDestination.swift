// What the relay requires of a destination of receipts. A destination builds requests and interprets answers;
// it knows no processor and no store, and does no I/O. A new one is a folder beside `Purchasely`.

public import Domain

/// One app's view of a destination.
public protocol ReceiptDestination: Sendable, Equatable {
  /// Its name in the configuration, in rows and logs.
  static var name: DestinationName { get }

  /// What messages to operators say about it.
  static var help: DestinationHelp { get }

  /// Whether it can express the purchases of a processor. A configuration that sends it others is refused.
  static func accepts(_ processor: ProcessorName) -> Bool

  /// The URL that receipts are posted to.
  var url: String { get }

  /// The certificates of requests to it.
  var certificates: DestinationCertificates { get }

  /// The headers of a request; they include the credentials and are never logged (R7).
  func headers(for receipt: OutgoingReceipt) -> [(name: String, value: String)]

  /// The bytes to send. Built once, when the receipt becomes ready; every attempt sends the same bytes.
  func body(for receipt: ReceiptContent) -> [UInt8]

  /// The bytes that report a reversal of a purchase that the destination accepted; nil if it has no form for
  /// that.
  func reversal(of receipt: ReceiptContent) -> [UInt8]?

  /// The id under which the destination knows a receipt that it accepted without naming one; nil if its
  /// answers name it.
  func importID(of receipt: OutgoingReceipt) -> String?

  /// The request that reports a paid purchase without a user; nil if it has no form for that.
  /// - Parameter url: the link that the customer opens; nil for an app without links.
  func announcement(
    of claim: ClaimAnnouncement, url: String?, sentAt: Timestamp
  ) -> (headers: [(name: String, value: String)], body: [UInt8])?

  /// The meaning of an answer. Total: returns a verdict for any answer.
  func verdict(on answer: DeliveryAnswer, now: Timestamp) -> Verdict
}

/// The certificates of requests to a destination, as paths of PEM files.
public struct DestinationCertificates: Sendable, Equatable {
  /// The only trusted authorities for its certificate; nil for the system's.
  public var authorities: String?
  /// The client's certificate and key; both nil for none.
  public var client: String?
  public var clientKey: String?

  public init(authorities: String? = nil, client: String? = nil, clientKey: String? = nil) {
    (self.authorities, self.client, self.clientKey) = (authorities, client, clientKey)
  }
}

extension ReceiptDestination {
  public var certificates: DestinationCertificates { DestinationCertificates() }

  public func reversal(of receipt: ReceiptContent) -> [UInt8]? { nil }

  public func importID(of receipt: OutgoingReceipt) -> String? { nil }

  public func announcement(
    of claim: ClaimAnnouncement, url: String?, sentAt: Timestamp
  ) -> (headers: [(name: String, value: String)], body: [UInt8])? { nil }

  /// Whether another destination is of the same kind and has the same settings.
  public func equals(_ other: any ReceiptDestination) -> Bool { (other as? Self) == self }

  public static func accepts(_ processor: ProcessorName) -> Bool { true }
}

/// A receipt that is about to be sent.
public struct OutgoingReceipt: Sendable, Equatable {
  public var id: ReceiptID
  /// The processor of its purchase.
  public var processor: ProcessorName
  /// Whether the body reports a reversal.
  public var isReversal: Bool
  public var body: [UInt8]
  /// When the attempt begins.
  public var sentAt: Timestamp

  public init(
    id: ReceiptID, processor: ProcessorName, isReversal: Bool = false, body: [UInt8], sentAt: Timestamp
  ) {
    self.id = id
    self.processor = processor
    self.isReversal = isReversal
    self.body = body
    self.sentAt = sentAt
  }
}

/// The names that messages to operators contain.
public struct DestinationHelp: Sendable, Equatable {
  /// The keys of its section that a destination judges: `url` and `api_key`.
  public var settings: [String]
  /// The one of them that is a secret.
  public var secret: String
  /// What to do if a purchase that it accepted does not show up there: a sentence.
  public var missing: String
  /// What it does with a second receipt of a purchase, as far as is known: sentences. Operators read them
  /// before they correct a receipt.
  public var secondReceipt: String

  public init(settings: [String], secret: String, missing: String, secondReceipt: String) {
    self.settings = settings
    self.secret = secret
    self.missing = missing
    self.secondReceipt = secondReceipt
  }
}
