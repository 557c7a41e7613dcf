// Purchases in app stores: what a client reports of them, and what a destination that asks the stores gets.
// Pure; any thread.

internal import Cryptography
public import Domain
internal import Formats

/// An app store, by the name that Purchasely has for it.
public enum StorePlatform: String, Sendable, CaseIterable {
  case appStore = "APP_STORE"
  case playStore = "PLAY_STORE"
  case appGallery = "APPGALLERY"

  /// The name of the processor in rows, lists and metrics: `app_store`.
  public var processor: ProcessorName { ProcessorName(rawValue.lowercased()) }

  /// - Returns: nil for the processor of other purchases.
  public init?(_ processor: ProcessorName) {
    guard let platform = Self.allCases.first(where: { $0.processor == processor }) else { return nil }
    self = platform
  }
}

/// A purchase in an app store, as a client reports it. Only the destination asks the store whether it is
/// true.
///
/// The fields are those of Purchasely's table of `POST /receipts` (Importing your active subscribers base).
public struct StorePurchase: Sendable, Equatable {
  /// By what the destination asks the store.
  public enum Proof: Sendable, Equatable {
    /// Apple's id of the first transaction, for an app that is set up for StoreKit 2 there.
    case originalTransaction(String)
    /// Apple's receipt of the app in base64, for any other; exactly as it came.
    case receiptData(String)
    /// Google's token of the purchase.
    case purchaseToken(String)
    /// Huawei's id of the subscription, with its token and its site.
    case subscription(String, purchaseToken: String, accountFlag: Int64)
  }

  public var platform: StorePlatform
  public var productID: PriceID
  public var proof: Proof
  /// `ply_context`, exactly as it came.
  public var context: String?

  /// An app's whole receipt grows with each of its transactions.
  public static let receiptDataBytesMax = 512 << 10
  /// Google documents up to 1000 characters.
  public static let purchaseTokenBytesMax = 4096

  /// The identity of the purchase: the store's own id. A receipt of an app has none, so its digest is the id.
  public var key: PurchaseKey {
    let (type, id): (PurchaseKey.ObjectType, ObjectID) =
      switch proof {
      case .originalTransaction(let id): ("original_transaction", Self.objectID(id))
      case .receiptData(let data): ("receipt_data", Self.digest(data))
      case .purchaseToken(let token): ("purchase_token", Self.objectID(token))
      case .subscription(let id, _, _): ("subscription", Self.objectID(id))
      }
    return PurchaseKey(processor: platform.processor, type: type, id: id)
  }

  /// The store's id, or its digest if it is too long, or could be read as the hash of an erased id.
  private static func objectID(_ id: String) -> ObjectID {
    let isPlain = id.utf8.count <= UntrustedText.identifierBytesMax && !id.utf8.contains(UInt8(ascii: ":"))
    return isPlain ? ObjectID(id) : digest(id)
  }

  private static func digest(_ text: String) -> ObjectID {
    ObjectID(Hex.encode(SHA256.digest(text.utf8.span)))
  }

  /// The purchase for the join. A context's price is not compared with the store's product.
  public func report(of user: UserID, at now: Timestamp) -> PurchaseReport {
    PurchaseReport(
      key: key, observations: [.paid, .soldByStore],
      context: context.map { ContextBlob(text: $0, priceID: nil) }, prices: [productID], startedBy: user,
      payment: PaymentFacts(details: JSONValue.object(members).text), happenedAt: now)
  }

  /// What a destination needs besides user, product and context, by the table's names.
  private var members: [JSONValue.Member] {
    func member(_ field: Field, _ value: JSONValue) -> JSONValue.Member {
      JSONValue.Member(name: field.rawValue, value: value)
    }
    return switch proof {
    case .originalTransaction(let id): [member(.originalTransactionID, .string(id))]
    case .receiptData(let data): [member(.receiptData, .string(data))]
    case .purchaseToken(let token): [member(.purchaseToken, .string(token))]
    case .subscription(let id, let token, let flag):
      [
        member(.purchaseToken, .string(token)), member(.subscriptionID, .string(id)),
        member(.accountFlag, .integer(flag)),
      ]
    }
  }

  /// The same from the facts of a stored purchase, in the table's order; empty if they have none.
  static func members(of payment: PaymentFacts?) -> [JSONValue.Member] {
    guard let details = payment?.details, let json = try? JSONValue(parsing: Array(details.utf8)) else {
      return []
    }
    return Field.proofs.compactMap { field in
      json[field.rawValue].map { JSONValue.Member(name: field.rawValue, value: $0) }
    }
  }
}

// MARK: - Reading

extension StorePurchase {
  /// The fields that a report may have. Others are ignored.
  public enum Field: String, Sendable, CaseIterable {
    case userID = "user_id"
    case platform
    case storeProductID = "store_product_id"
    case originalTransactionID = "original_transaction_id"
    case receiptData = "receipt_data"
    case purchaseToken = "purchase_token"
    case subscriptionID = "subscription_id"
    case accountFlag = "account_flag"
    case stripeObjectType = "stripe_object_type"
    case stripeObjectID = "stripe_object_id"
    case stripePriceID = "stripe_price_id"
    case context = "ply_context"

    static let proofs: [Field] = [
      .originalTransactionID, .receiptData, .purchaseToken, .subscriptionID, .accountFlag,
    ]

    /// The platforms whose purchases may have it; empty for a field of Stripe's, whose purchases the relay
    /// reads from webhooks.
    var platforms: [StorePlatform] {
      switch self {
      case .userID, .platform, .storeProductID, .context: StorePlatform.allCases
      case .originalTransactionID, .receiptData: [.appStore]
      case .purchaseToken: [.playStore, .appGallery]
      case .subscriptionID, .accountFlag: [.appGallery]
      case .stripeObjectType, .stripeObjectID, .stripePriceID: []
      }
    }
  }

  /// What is wrong with a report.
  public enum Fault: Error, Sendable, Equatable {
    /// It is no JSON object.
    case notJSON
    /// A required field is missing.
    case missing(Field)
    /// None of the fields that prove the purchase is there; one of them must be.
    case noProof([Field])
    /// Two fields that exclude each other are there.
    case exclusive(Field, Field)
    /// A field is there that purchases on this platform do not have.
    case foreign(Field, StorePlatform)
    /// A field's value is not what it must be, in words.
    case invalid(Field, String)
    /// A field occurs with different values.
    case differs(Field)
    case context(PlyContext.Fault)

    /// The field that it is about; nil if it is the whole body, and for a context.
    public var field: Field? {
      switch self {
      case .missing(let field), .exclusive(_, let field), .foreign(let field, _), .invalid(let field, _),
        .differs(let field):
        field
      case .noProof(let fields): fields.first
      case .notJSON, .context: nil
      }
    }
  }

  /// A report as it was read, with the users that its body names.
  public struct Reading: Sendable, Equatable {
    public var purchase: StorePurchase
    public var users: [String]
  }

  /// Reads a report. Total.
  public static func read(_ body: [UInt8]) throws(Fault) -> Reading {
    let values = try JSONDocument.read(body) { root throws(Fault) in
      guard root.isObject else { throw .notJSON }
      return try Self.values(of: root)
    }
    guard let values else { throw .notJSON }
    let platform = try Self.platform(values)
    for field in Field.allCases where values[field] != nil && !field.platforms.contains(platform) {
      throw .foreign(field, platform)
    }
    let product = try text(values, .storeProductID)
    let proof = try Self.proof(values, platform)
    var context: String?
    if let value = values[.context] {
      guard let text = value.stringValue else { throw .invalid(.context, "text") }
      do throws(PlyContext.Fault) {
        context = try PlyContext.read(text).text
      } catch {
        throw .context(error)
      }
    }
    var users: [String] = []
    if let value = values[.userID] {
      guard let text = value.stringValue else { throw .invalid(.userID, "text") }
      users = [text]
    }
    let purchase = StorePurchase(
      platform: platform, productID: PriceID(product), proof: proof, context: context)
    return Reading(purchase: purchase, users: users)
  }

  /// The values of the known fields; `null` counts as absent. A proxy may read another one of two values, so
  /// they must not differ.
  private static func values(of root: JSONNode) throws(Fault) -> [Field: JSONValue] {
    var values: [Field: JSONValue] = [:]
    var fault: Fault?
    root.forEachMember { name, node in
      guard let field = name.string.flatMap(Field.init), !node.isNull else { return }
      // A flag, a list or an object is neither text nor an integer, whatever it contains.
      let value = node.string.map(JSONValue.string) ?? node.int64.map(JSONValue.integer) ?? .bool(false)
      if let known = values[field], known.serialized() != value.serialized() {
        fault = fault ?? .differs(field)
      }
      values[field] = value
    }
    if let fault { throw fault }
    return values
  }

  private static func platform(_ values: [Field: JSONValue]) throws(Fault) -> StorePlatform {
    guard let value = values[.platform] else { throw .missing(.platform) }
    guard let platform = value.stringValue.flatMap(StorePlatform.init(rawValue:)) else {
      let names = StorePlatform.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      throw .invalid(.platform, "one of \(names)")
    }
    return platform
  }

  private static func proof(
    _ values: [Field: JSONValue], _ platform: StorePlatform
  ) throws(Fault) -> Proof {
    switch platform {
    case .appStore:
      switch (values[.originalTransactionID] != nil, values[.receiptData] != nil) {
      case (true, true): throw .exclusive(.originalTransactionID, .receiptData)
      case (true, false): return .originalTransaction(try text(values, .originalTransactionID))
      case (false, true): return .receiptData(try receiptData(values))
      case (false, false): throw .noProof([.originalTransactionID, .receiptData])
      }
    case .playStore: return .purchaseToken(try token(values))
    case .appGallery:
      return .subscription(
        try text(values, .subscriptionID), purchaseToken: try token(values),
        accountFlag: try accountFlag(values))
    }
  }

  /// An id: text of the length of the relay's ids.
  private static func text(_ values: [Field: JSONValue], _ field: Field) throws(Fault) -> String {
    guard let value = values[field] else { throw .missing(field) }
    guard let text = UntrustedText.identifier(value.stringValue) else {
      throw .invalid(
        field, "text of 1 to \(UntrustedText.identifierBytesMax) bytes without control characters")
    }
    return text
  }

  private static func token(_ values: [Field: JSONValue]) throws(Fault) -> String {
    guard let value = values[.purchaseToken] else { throw .missing(.purchaseToken) }
    guard let text = value.stringValue, (1...purchaseTokenBytesMax).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .invalid(
        .purchaseToken, "text of 1 to \(purchaseTokenBytesMax) ASCII characters without blanks")
    }
    return text
  }

  private static func accountFlag(_ values: [Field: JSONValue]) throws(Fault) -> Int64 {
    guard let value = values[.accountFlag] else { throw .missing(.accountFlag) }
    guard case .integer(let flag) = value, flag == 0 || flag == 1 else {
      throw .invalid(.accountFlag, "the integer 0 or 1")
    }
    return flag
  }

  private static func receiptData(_ values: [Field: JSONValue]) throws(Fault) -> String {
    guard let text = values[.receiptData]?.stringValue, !text.isEmpty,
      text.utf8.count <= receiptDataBytesMax, Base64.decode(text.utf8.span, .lenient)?.isEmpty == false
    else {
      throw .invalid(.receiptData, "base64 of at most \(receiptDataBytesMax) characters")
    }
    return text
  }
}
