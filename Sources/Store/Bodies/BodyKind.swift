// What a dictionary is for. A value.

/// The kinds of texts that are compressed, each with its own dictionaries.
public enum BodyKind: String, Sendable, CaseIterable {
  /// The bodies of events.
  case event
  /// The bodies of receipts, and contexts, which make up most of such a body.
  case receipt
}
