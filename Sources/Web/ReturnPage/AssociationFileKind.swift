// The files of a host that associate it with others. Pure; called from any thread.

/// The files that associate a host with its apps, or with a merchant.
public enum AssociationFileKind: Sendable, Equatable {
  /// apple-app-site-association.
  case apple
  /// assetlinks.json.
  case android
  /// apple-developer-merchantid-domain-association.
  case applePay
}
