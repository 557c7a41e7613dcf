// Reads the configuration under `apps.….client`. As ConfigurationReader: one thread, every fault.

internal import JSON
internal import JSONWebToken

extension ConfigurationReader {
  func client(_ app: ObjectReader) -> AppConfiguration.ClientAccess? {
    let path = app.path(of: "client")
    let advice =
      "write { keys: [\"env:NAME\"] }, or { jwt: { … } }, or \"open\" to let anyone post contexts"
    switch app.required("client", advice) {
    case nil: return nil
    case .string("open"): return .open
    case .object(let members):
      let reader = ObjectReader(.object(members), path: path, collector: collector)
      defer { reader.reportUnknownKeys() }
      let tokens = reader.value("jwt").map { value in
        self.tokens(ObjectReader(value, path: reader.path(of: "jwt"), collector: collector))
      }
      if let tokens, reader.value("keys") == nil { return .restricted(keys: [], tokens: tokens) }
      let keys = secretList(reader, "keys", count: ConfigurationLimits.clientKeys, advice: advice)
      return keys.map { .restricted(keys: $0, tokens: tokens ?? nil) }
    default:
      collector.fault(path, "must be { keys: [ … ] }, { jwt: { … } } or \"open\"; \(advice)")
      return nil
    }
  }

  /// Nil after a fault that leaves a required part without a value.
  private func tokens(_ reader: ObjectReader) -> AppConfiguration.Tokens? {
    defer { reader.reportUnknownKeys() }
    let issuer = reader.text(
      reader.required("issuer", "write the iss of its tokens exactly"),
      path: reader.path(of: "issuer"), mustBe: "the iss of its tokens")
    let audiences = audiences(reader)
    let algorithms = algorithms(reader)
    let userClaim = reader.text(
      reader.value("user_claim"), path: reader.path(of: "user_claim"), mustBe: "the name of a claim")
    var rules = TokenRules(issuer: issuer ?? "", audiences: audiences, algorithms: algorithms)
    rules.userClaim = userClaim ?? rules.userClaim
    rules.leeway = reader.duration(
      "leeway", default: rules.leeway, in: ConfigurationLimits.tokenLeeway)
    guard let keys = tokenKeys(reader, algorithms), issuer != nil, !audiences.isEmpty else { return nil }
    return AppConfiguration.Tokens(rules: rules, keys: keys)
  }

  /// A string or a list of strings; empty after a fault.
  private func audiences(_ reader: ObjectReader) -> [String] {
    let path = reader.path(of: "audience")
    let value = reader.required("audience", "write the aud of its tokens exactly")
    guard case .array = value else {
      return reader.text(value, path: path, mustBe: "a text or a list of texts").map { [$0] } ?? []
    }
    let entries = reader.list(value, path: path, count: ConfigurationLimits.audiences, of: "texts") ?? []
    return entries.compactMap { reader.text($0.value, path: $0.path, mustBe: "a text") }
  }

  private func algorithms(_ reader: ObjectReader) -> [TokenAlgorithm] {
    let (path, names) = (reader.path(of: "algorithms"), TokenAlgorithm.allCases.map(\.rawValue))
    let range = 1...names.count
    guard let entries = reader.list(reader.value("algorithms"), path: path, count: range, of: "algorithms")
    else { return TokenAlgorithm.allCases }
    return entries.compactMap { value, path in
      guard let algorithm = value.stringValue.flatMap(TokenAlgorithm.init) else {
        collector.fault(path, "must be one of \(names.joined(separator: ", "))")
        return nil
      }
      return algorithm
    }
  }

  private func tokenKeys(
    _ reader: ObjectReader, _ algorithms: [TokenAlgorithm]
  ) -> AppConfiguration.Tokens.Keys? {
    let (keys, address) = (reader.value("keys"), reader.value("jwks"))
    let path = reader.path(of: keys == nil ? "jwks" : "keys")
    switch (keys, address) {
    case (nil, nil):
      collector.fault(
        reader.path(of: "keys"),
        "is missing; write \"file:/path\" of a JWK Set or of a public key in PEM, "
          + "or give jwks the https address of the issuer's key set")
      return nil
    case (_?, _?):
      collector.fault(path, "cannot be combined with jwks; keep one of them")
      return nil
    case (let keys?, nil):
      guard let secret = secrets.document(keys, path: path, bytesMax: KeySet.bytesMax) else { return nil }
      check(secret, path: path, algorithms)
      return .given(secret)
    case (nil, let address?):
      guard let url = reader.text(address, path: path, mustBe: "an address, https://…") else { return nil }
      if let fault = EndpointURL.fault(in: url, carriesSecret: false) { collector.fault(path, fault) }
      if algorithms == [.hs256] {
        collector.fault(path, "cannot give keys for HS256, which are secret; write them into a file for keys")
      }
      return .fetched(url: url)
    }
  }

  /// Reports faults of a key set without repeating its content (R7).
  private func check(_ secret: Secret, path: String, _ algorithms: [TokenAlgorithm]) {
    // An unreadable secret was already reported, if it matters.
    guard let text = try? secret.reveal() else { return }
    let set: KeySet
    do throws(KeySetFault) {
      set = try KeySet(reading: Array(text.utf8))
    } catch {
      return collector.fault(path, error.words)
    }
    // A set may contain keys for other uses (RFC 7517 §5); the keys for this use must be valid.
    let unsound = set.flaws.filter { $0.flaw != .unsupported && $0.flaw != .otherUse }
    for (index, flaw) in unsound {
      collector.fault(path, "has a key, number \(index + 1), that \(flaw.words)")
    }
    if unsound.isEmpty, !set.keys.contains(where: { algorithms.contains($0.algorithm) }) {
      collector.fault(path, "has no key that signatures by the allowed algorithms could be checked with")
    }
  }
}
