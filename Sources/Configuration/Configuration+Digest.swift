// A short text that shows whether instances on one database have the same configuration. Pure; any thread.

internal import Cryptography
internal import JSON

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
}
