// The clients of an app. Keys are read as by ConfigurationReader: one thread, every fault.

public import Cryptography
internal import Formats

extension AppConfiguration {
  /// The clients that may post contexts.
  public enum ClientAccess: Sendable, Equatable {
    /// Any client.
    case open
    /// A client with one of these keys, for any user, or with a token, for the user that the token names. At
    /// least one of the two is configured. A key may also be in one of these header fields.
    case restricted(keys: [Secret], tokens: Tokens?, headers: [String] = [])

    /// A client with one of these keys; at least one.
    public static func keys(_ keys: [Secret]) -> ClientAccess { .restricted(keys: keys, tokens: nil) }

    static let advice =
      "write { keys: [\"env:NAME\"] }, or { jwt: { … } }, or \"open\" to let anyone post contexts"

    /// The clients of an app that is not open.
    fileprivate struct Restricted: Sendable {
      var keys: [Secret] = []
      var tokens: AppConfiguration.Tokens?
      var headers: [String]?
    }

    fileprivate static let section = ConfigurationSection(
      Restricted(), rules: ["anyOf": [["required": ["keys"]], ["required": ["jwt"]]]],
      [
        .required(
          "keys", \.keys, .secrets(count: 1...100),
          example: ["file:/etc/receiptd/secrets/client_key"], unless: "jwt", advice: advice,
          "The keys, one of which a client must send. Required unless jwt is there."),
        .optional(
          "jwt", \.tokens, .section(AppConfiguration.Tokens.section),
          "The tokens (JWT) that a client may send instead of a key. A token is valid for the "
            + "user that it names."
        ),
        .optional(
          "header", \.headers, .headerNames, example: "x-payex-sample-apikey",
          "The name of a header field, or several, in which a client may also send a key, beside "
            + "Authorization and X-API-KEY."
        ).then { client, reader, _ in client.reportHeader(reader) },
      ])
  }

  /// Which tokens are accepted.
  public struct Tokens: Sendable, Equatable {
    /// Where the issuer's keys come from.
    public enum Keys: Sendable, Equatable {
      /// A JWK Set, a JWK, or PEM.
      case given(Secret)
      /// The URL of a JWK Set; https, or http to this machine.
      case fetched(url: String)
    }

    public var rules: TokenRules
    public var keys: Keys

    fileprivate var givenKeys: Secret? {
      get {
        guard case .given(let keys) = keys else { return nil }
        return keys
      }
      set { if let newValue { keys = .given(newValue) } }
    }

    fileprivate var keySetURL: String? {
      get {
        guard case .fetched(let url) = keys else { return nil }
        return url
      }
      set { if let newValue { keys = .fetched(url: newValue) } }
    }

    static let section = ConfigurationSection(
      Self(rules: TokenRules(issuer: "", audiences: []), keys: .fetched(url: "")),
      rules: ["oneOf": [["required": ["jwks"]], ["required": ["keys"]]]],
      [
        .required(
          "issuer", \.rules.issuer, .text("the iss of its tokens", words: "a text"),
          example: "https://id.example.com/", advice: "write the iss of its tokens exactly",
          "The iss of the tokens, letter for letter."),
        .required(
          "audience", \.rules.audiences, .audiences, example: "my-app",
          advice: "write the aud of its tokens exactly",
          "What the aud of a token must contain, letter for letter; of a list, one of them."),
        .key(
          "algorithms", \.rules.algorithms,
          .list(of: .algorithm, count: 1...TokenAlgorithm.allCases.count, "algorithms"),
          "The algorithms that tokens may be signed with. HS256 needs keys."),
        .optional(
          "jwks", \.keySetURL, .endpoint(carriesSecret: false),
          example: "https://id.example.com/.well-known/jwks.json", need: .alternative(isPreferred: true),
          "The URL of the issuer's key set. Required unless keys is there."
        ).then { tokens, reader, _ in tokens.reportSecretAlgorithm(reader) },
        .optional(
          "keys", \.givenKeys,
          .document(
            "where a JWK Set, a JWK or public keys in PEM are: \"file:/path\" or \"env:NAME\"",
            bytesMax: KeySet.bytesMax),
          example: "file:/etc/receiptd/secrets/token_keys", need: .alternative(isPreferred: false),
          "The issuer's keys, instead of jwks."
        ).then { tokens, reader, _ in tokens.reportKeys(reader) },
        .key(
          "user_claim", \.rules.userClaim, .text("the name of a claim", words: "a text"),
          "The name of the claim that contains the user id."),
        .key(
          "leeway", \.rules.leeway, .duration(in: .zero...(.hours(1))),
          "Maximum difference between the clocks of issuer and relay."),
      ])

    private func reportSecretAlgorithm(_ reader: ObjectReader) {
      guard reader.has("jwks"), rules.algorithms == [.hs256] else { return }
      reader.collector.fault(
        reader.path(of: "jwks"),
        "cannot give keys for HS256, which are secret; write them into a file for keys")
    }

    private func reportKeys(_ reader: ObjectReader) {
      let path = reader.path(of: "keys")
      switch (reader.has("keys"), reader.has("jwks")) {
      case (false, false):
        guard reader.isObject else { return }
        reader.collector.fault(
          path,
          "is missing; write \"file:/path\" of a JWK Set or of a public key in PEM, "
            + "or give jwks the https address of the issuer's key set")
      case (true, true):
        reader.collector.fault(path, "cannot be combined with jwks; keep one of them")
      case (true, false): givenKeys.map { check($0, path: path, reader.collector) }
      case (false, true): break
      }
    }

    /// Reports faults of a key set without repeating its content (R7).
    private func check(_ secret: Secret, path: String, _ collector: FaultCollector) {
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
      if unsound.isEmpty, !set.keys.contains(where: { rules.algorithms.contains($0.algorithm) }) {
        collector.fault(path, "has no key that signatures by the allowed algorithms could be checked with")
      }
    }
  }
}

extension ValueForm<AppConfiguration.ClientAccess> {
  static var clientAccess: ValueForm {
    let section = AppConfiguration.ClientAccess.section
    let restricted = ValueForm<AppConfiguration.ClientAccess.Restricted>.section(section)
    return ValueForm(
      shape: section.shape,
      read: { value, path, context in
        switch value {
        case .string("open"): return .open
        case .object:
          return restricted.read(value, path, context).map {
            .restricted(keys: $0.keys, tokens: $0.tokens, headers: $0.headers ?? [])
          }
        default:
          let advice = AppConfiguration.ClientAccess.advice
          context.collector.fault(path, "must be { keys: [ … ] }, { jwt: { … } } or \"open\"; \(advice)")
          return nil
        }
      },
      show: { access in
        guard case .restricted(let keys, let tokens, let headers) = access else { return "open" }
        return section.show(
          .init(keys: keys, tokens: tokens, headers: headers.isEmpty ? nil : headers))
      },
      secrets: { access, path in
        guard case .restricted(let keys, let tokens, _) = access else { return [] }
        return section.secrets(.init(keys: keys, tokens: tokens), path)
      }
    ).described { shape in
      shape.words = "an object with the keys below, or \"open\""
      shape.schema = ["oneOf": [["type": "string", "enum": ["open"]], shape.schema]]
    }
  }
}

extension AppConfiguration.ClientAccess.Restricted {
  fileprivate func reportHeader(_ reader: ObjectReader) {
    guard reader.has("header"), reader.isObject, !reader.has("keys") else { return }
    reader.collector.fault(
      reader.path(of: "header"), "names where a key may be, but there are no keys; add keys or take it out")
  }
}

extension ValueForm<String> {
  /// The name of a header field that means nothing else to the relay or to HTTP.
  fileprivate static var headerName: ValueForm {
    ValueForm(
      "the name of a header field",
      mustBe: "the name of a header field of yours, such as x-example-key: letters, digits and hyphens, and "
        + "none that HTTP or the relay uses already", isText: true,
      schema: .pattern("^[A-Za-z][A-Za-z0-9-]{0,63}$"), show: JSONValue.string,
      convert: { value in
        guard let name = value.stringValue, let first = name.utf8.first, name.utf8.count <= 64,
          isLetter(first), name.utf8.allSatisfy({ isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") })
        else { return nil }
        let folded = name.lowercased()
        return takenNames.contains(folded) || takenPrefixes.contains(where: folded.hasPrefix) ? nil : name
      })
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static let takenNames: Set = [
    "authorization", "x-api-key", "x-user-id", "x-context-id", "x-request-id", "host", "cookie", "connection",
    "date", "expect", "forwarded", "from", "origin", "referer", "range", "te", "trailer", "transfer-encoding",
    "upgrade", "user-agent", "via",
  ]
  private static let takenPrefixes = ["accept", "content-", "if-", "sec-", "proxy-", "x-forwarded-"]
}

extension ValueForm<[String]> {
  /// A text or a list of texts.
  fileprivate static var audiences: ValueForm {
    oneOrSeveral(of: .text("a text"), "a text or a list of texts", "texts")
  }

  fileprivate static var headerNames: ValueForm {
    oneOrSeveral(of: .headerName, "the name of a header field or a list of names", "names")
  }

  private static func oneOrSeveral(
    of one: ValueForm<String>, _ words: String, _ elements: String
  ) -> ValueForm {
    let several = ValueForm<[String]>.list(of: one, count: 1...20, elements)
    return ValueForm(
      shape: ValueShape(words, ["oneOf": [one.shape.schema, several.shape.schema]]),
      read: { value, path, context in
        guard case .array = value else { return one.read(value, path, context).map { [$0] } }
        return several.read(value, path, context)
      },
      show: { $0.count == 1 ? .string($0[0]) : several.show($0) })
  }
}

extension ValueForm<TokenAlgorithm> {
  fileprivate static var algorithm: ValueForm {
    let names = TokenAlgorithm.allCases.map(\.rawValue)
    return ValueForm(
      shape: .choice(names),
      read: { value, path, context in
        if let algorithm = value.stringValue.flatMap(TokenAlgorithm.init) { return algorithm }
        context.collector.fault(path, "must be one of \(names.joined(separator: ", "))")
        return nil
      }, show: { .string($0.rawValue) })
  }
}
