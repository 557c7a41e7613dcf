// What became of an event: the words of the column, the metric and the tables. Pure; any thread.

/// What became of an event that carried a valid signature.
public enum EventOutcome: String, Sendable, CaseIterable {
  /// It belongs to a purchase that has a receipt.
  case receipt
  /// It says something about a purchase that has no receipt yet, and is kept for it.
  case noted
  /// It says nothing that matters here: another type, a renewal, an abandoned checkout.
  case ignored
  /// It is of a type that matters, or of none, and could not be understood.
  case unparsed
  /// It is live and the app takes test events only, or the other way round.
  case otherMode = "other_mode"
  /// It is of a connected account that the app does not count.
  case otherAccount = "other_account"
  /// It is about a purchase of a user who was forgotten; nothing of it is kept.
  case erased
}
