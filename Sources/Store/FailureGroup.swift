// Groups of failed receipts, and what operators have noted about them. Values.

public import Domain

/// Failed receipts of one app and processor with the same reason and cause.
public struct FailureGroup: Sendable, Equatable {
  /// Whether an operator should look at a group.
  public enum Attention: String, Sendable, CaseIterable {
    /// Nobody has acknowledged it.
    case new
    /// It has grown since it was acknowledged.
    case growing
    /// It was acknowledged, and has not grown since.
    case acknowledged
  }

  public var app: AppSlug
  public var processor: ProcessorName
  public var reason: String
  /// Why the last attempt failed; nil without an attempt.
  public var cause: String?
  public var count: Int64
  /// How many receipts have ever entered the group. A replay takes receipts out of it, so the count alone
  /// does not show that new ones failed.
  public var entered: Int64 = 0
  public var acknowledgement: FailureAcknowledgement?
  /// When the oldest and the newest receipt were made.
  public var oldest: Timestamp?
  public var newest: Timestamp?

  /// How many receipts have failed since the acknowledgement; without one, all.
  public var growth: Int64 { acknowledgement.map { max(0, entered - $0.entered) } ?? count }

  public var attention: Attention {
    guard acknowledgement != nil else { return .new }
    return growth > 0 ? .growing : .acknowledged
  }
}

/// An operator's note about a group of failures: who takes care of it.
public struct FailureAcknowledgement: Sendable, Equatable {
  /// How many receipts had entered the group when it was acknowledged.
  public var entered: Int64
  public var owner: String
  public var note: String
  /// Who wrote it.
  public var actor: String
  public var at: Timestamp
}

/// Which groups of failures a command concerns; nil for any.
public struct FailureChoice: Sendable, Equatable {
  public var app: AppSlug?
  public var processor: ProcessorName?
  public var reason: String?
  /// Empty for groups without a cause.
  public var cause: String?

  public init(
    app: AppSlug? = nil, processor: ProcessorName? = nil, reason: String? = nil, cause: String? = nil
  ) {
    self.app = app
    self.processor = processor
    self.reason = reason
    self.cause = cause
  }

  var values: [StoreValue] { [.optional(app), .optional(processor), .optional(reason), .optional(cause)] }

  /// The condition on the columns of a group, with the first four parameters.
  static func condition(_ table: String) -> String {
    """
    \(table).app = coalesce(?1, \(table).app) AND \(table).processor = coalesce(?2, \(table).processor)
      AND \(table).reason = coalesce(?3, \(table).reason)
      AND \(table).last_cause = coalesce(?4, \(table).last_cause)
    """
  }
}
