// A short text that shows whether instances on one database have the same configuration. Pure; any thread.

internal import Cryptography
internal import Formats

extension Configuration {
  /// What each machine may have for itself.
  private static let ownKeys: Set<String> = ["listen", "admin", "database", "log", "limits"]

  /// Twelve hexadecimal digits that are equal for configurations that treat receipts equally. Secrets are not
  /// part of it: they are known only by their source here.
  public var digest: String {
    guard case .object(let members) = redacted else { return "" }
    let shared = JSONValue.object(members.filter { !Self.ownKeys.contains($0.name) })
    return String(Hex.encode(SHA256.digest(shared.serialized().span)).prefix(12))
  }

  /// Twelve hexadecimal digits that are equal for configurations whose secrets are equal, apart from those
  /// that each machine may have for itself. All secrets together are the key: the digest helps nobody who
  /// guesses one of them and does not know the others.
  public var secretsDigest: String {
    let shared = secrets.filter { entry in
      !Self.ownKeys.contains(String(entry.path.prefix { $0 != "." && $0 != "[" }))
    }
    let key = shared.map { "\($0.path)=\((try? $0.secret.reveal()) ?? "")" }.joined(separator: "\n")
    let code = try? HMACSHA256(key: Array(key.utf8)).authenticationCode(for: Array("configuration".utf8))
    return String(Hex.encode(code ?? []).prefix(12))
  }
}
