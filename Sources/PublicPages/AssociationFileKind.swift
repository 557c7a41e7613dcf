// Which of a host's two association files is asked for. Pure; any thread.

/// The files that tie a host to its apps.
public enum AssociationFileKind: Sendable, Equatable {
  /// apple-app-site-association.
  case apple
  /// assetlinks.json.
  case android
}
