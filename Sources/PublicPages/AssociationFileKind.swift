// The two association files of a host. Pure; called from any thread.

/// The files that associate a host with its apps.
public enum AssociationFileKind: Sendable, Equatable {
  /// apple-app-site-association.
  case apple
  /// assetlinks.json.
  case android
}
