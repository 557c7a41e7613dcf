// Which source of a purchase's user counts: the most certain one (`Purchase.learn`). Pure; any thread.

extension Purchase {
  /// Where the user came from. `<` compares by certainty: the most certain source is the least. The numbers
  /// are only for storage, and never change.
  public enum UserSource: Int64, Sendable, Comparable, CaseIterable {
    case byOperator = 0
    /// The user of a context that an event named.
    case context = 1
    /// The reference that the checkout was opened with, the user who started the payment at the relay, or the
    /// one for whom a client reported a purchase in an app store.
    case reference = 2
    /// The metadata of the checkout, or of what it sold, under a key of the merchant.
    case metadata = 3
    /// The only user ever seen with the customer. No event of the purchase names them.
    case customer = 4
    /// The relay's own key in that metadata. It exists for nothing else.
    case ownKey = 5
    /// The metadata of the customer.
    case customerMetadata = 6
    /// The user who claimed the purchase with a claim link.
    case claim = 7
    /// `ownKey` as an invoice has it: a copy of the metadata of what was sold, which may be older.
    case ownKeyOfInvoice = 8
    /// `metadata` as an invoice has them.
    case metadataOfInvoice = 9
    /// The metadata of the customer, under a later key than that of `customerMetadata`.
    case customerMetadataOfLaterKey = 10

    /// Whether the customer's own metadata name the user.
    public var isOfCustomersMetadata: Bool {
      self == .customerMetadata || self == .customerMetadataOfLaterKey
    }

    /// Whether the user was inferred from other purchases, so that none of this one's sources names them.
    public var isInferred: Bool { self == .customer }

    private var rank: Int {
      switch self {
      case .byOperator: 0
      case .claim: 1
      case .context: 2
      case .ownKey: 3
      case .ownKeyOfInvoice: 4
      case .reference: 5
      case .metadata: 6
      case .metadataOfInvoice: 7
      case .customerMetadata: 8
      case .customerMetadataOfLaterKey: 9
      case .customer: 10
      }
    }

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }
}
