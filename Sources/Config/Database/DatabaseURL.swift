// The URL of a PostgreSQL database. It may contain a password, so it is a secret (R7). Values; any thread.

internal import Platform

/// The URL of a PostgreSQL database, as libpq understands it
/// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
public struct DatabaseURL: Sendable, Equatable, CustomStringConvertible {
  let secret: Secret

  /// - Parameter secret: the URL, and where it was read from.
  public init(_ secret: Secret) { self.secret = secret }

  /// The URL as it was written, with its passwords.
  /// - Throws: why it could not be read; never after loading with `SecretPolicy.required`.
  public func reveal() throws(Fault) -> String { try secret.reveal() }

  /// The URL as its file has it now, for a password that was changed; nil if it is not in a file, or cannot
  /// be read.
  public func readAgain() -> String? {
    guard case .file(let path) = secret.source,
      let bytes = try? FileReading.content(of: path, bytesMax: KeyRanges.secretFileBytesMax).bytes
    else { return nil }
    return String(validating: bytes, as: UTF8.self)?.split(whereSeparator: \.isNewline).first.map(String.init)
  }

  /// The URL without its passwords; where it is, if it could not be read.
  public var description: String {
    guard let text = try? secret.reveal() else { return secret.description }
    return RedactedURL.database(text)
  }

  /// What the configuration shows: the source of a URL that is elsewhere.
  var shown: String { secret.source == .inPlace ? description : secret.description }

  /// Whether the URL contains a password. False if it could not be read.
  public var hasPassword: Bool {
    guard let parts = try? DatabaseURLParts(secret.reveal()) else { return false }
    return parts.password?.isEmpty == false || !parts.parameters.allSatisfy(\.isHarmless)
  }

  /// The URL for the command line of another program, which other users can see: without its passwords. Nil
  /// if it could not be read.
  public var withoutPasswords: String? {
    guard let text = try? secret.reveal(), var parts = try? DatabaseURLParts(text) else { return nil }
    parts.password = nil
    parts.parameters.removeAll { !$0.isHarmless }
    return parts.text
  }
}
