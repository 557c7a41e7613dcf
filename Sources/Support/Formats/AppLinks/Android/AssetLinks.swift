// Android's association file, `assetlinks.json`, as a value: the apps that open the links of a host. Pure;
// thread-safe.

/// The statements of a host (developers.google.com, "Digital Asset Links", statement list syntax).
public struct AssetLinks: Sendable, Equatable {
  /// The relation that lets an app open all links of the host.
  public static let handlesAllURLs = "delegate_permission/common.handle_all_urls"

  /// The relation that lets an app use the passwords that are saved for the host.
  public static let getsLoginCredentials = "delegate_permission/common.get_login_creds"

  /// The maximum size of a file, in bytes.
  public static let byteCountMax = 131_072

  /// One app that opens the links of the host.
  public struct Statement: Sendable, Equatable {
    public let package: PackageName
    /// The accepted signing certificates of the app; one of them is enough.
    public let fingerprints: [CertificateFingerprint]
    /// Whether the app may also use the passwords that are saved for the host.
    public let getsLoginCredentials: Bool

    public init(
      package: PackageName, fingerprints: [CertificateFingerprint], getsLoginCredentials: Bool = false
    ) {
      self.package = package
      self.fingerprints = fingerprints
      self.getsLoginCredentials = getsLoginCredentials
    }
  }

  public private(set) var statements: [Statement]

  /// - Parameter statements: several statements for one package are merged, with all their fingerprints and
  ///   relations.
  public init(_ statements: [Statement]) {
    var packages: [PackageName] = []
    var fingerprints: [PackageName: [CertificateFingerprint]] = [:]
    for statement in statements {
      if fingerprints[statement.package] == nil { packages.append(statement.package) }
      for fingerprint in statement.fingerprints
      where fingerprints[statement.package]?.contains(fingerprint) != true {
        fingerprints[statement.package, default: []].append(fingerprint)
      }
    }
    let sharing = Set(statements.filter(\.getsLoginCredentials).map(\.package))
    self.statements = packages.map {
      Statement(package: $0, fingerprints: fingerprints[$0] ?? [], getsLoginCredentials: sharing.contains($0))
    }
  }

  /// The content of the file.
  public var json: JSONValue {
    .array(
      statements.map { statement in
        [
          "relation": .array(Self.relations(of: statement).map { .string($0) }),
          "target": [
            "namespace": "android_app",
            "package_name": .string(statement.package.text),
            "sha256_cert_fingerprints": .array(statement.fingerprints.map { .string($0.text) }),
          ],
        ]
      })
  }

  private static func relations(of statement: Statement) -> [String] {
    [handlesAllURLs] + (statement.getsLoginCredentials ? [getsLoginCredentials] : [])
  }

  /// The bytes to serve.
  /// - Throws: `AssociationFault` when there are more than `byteCountMax`.
  public func serialized() throws(AssociationFault) -> [UInt8] {
    let bytes = json.serialized()
    guard bytes.count <= Self.byteCountMax else {
      throw AssociationFault(
        "would be a file of \(bytes.count) bytes, but the limit is \(Self.byteCountMax); list fewer "
          + "packages and fingerprints")
    }
    return bytes
  }
}

// MARK: - Reading

// Reads Android's association file. Pure; thread-safe. Accepts what Android accepts, and reports the rest.

extension AssetLinks {
  /// Parses a file.
  /// - Returns: the statements that let an app open links, and the faults of the others.
  /// - Throws: `AssociationFault` when the file is too large, not JSON, or not a list.
  public static func read(
    _ bytes: [UInt8]
  ) throws(AssociationFault) -> (file: AssetLinks, findings: [LinkFinding]) {
    guard bytes.count <= byteCountMax else {
      throw AssociationFault("has \(bytes.count) bytes, but at most \(byteCountMax) are read")
    }
    let value: JSONValue
    do throws(JSONSyntaxError) {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw AssociationFault("is not JSON: \(error.description)")
    }
    guard case .array(let elements) = value else {
      throw AssociationFault("is not a JSON list of statements")
    }
    var findings: [LinkFinding] = []
    let statements = elements.enumerated().compactMap { statement($1, "[\($0)]", &findings) }
    if statements.isEmpty { findings.append(.note("", "lets no app open links")) }
    return (AssetLinks(statements), findings)
  }

  private static func statement(
    _ value: JSONValue, _ place: String, _ findings: inout [LinkFinding]
  ) -> Statement? {
    guard case .array(let relations)? = value["relation"], let target = value["target"] else {
      findings.append(.fault(place, "is not a statement: it needs a relation (a list) and a target"))
      return nil
    }
    // Statements that open no links in an app (of sites, or of passwords only) are ignored.
    guard relations.contains(.string(handlesAllURLs)), target["namespace"] == "android_app" else {
      return nil
    }
    let package: PackageName
    do throws(NameFault) {
      package = try PackageName(target["package_name"]?.stringValue ?? "")
    } catch {
      findings.append(.fault("\(place).target.package_name", error.description))
      return nil
    }
    guard case .array(let texts)? = target["sha256_cert_fingerprints"], !texts.isEmpty else {
      findings.append(
        .fault("\(place).target.sha256_cert_fingerprints", "must list at least one fingerprint"))
      return nil
    }
    var fingerprints: [CertificateFingerprint] = []
    for (index, text) in texts.enumerated() {
      let place = "\(place).target.sha256_cert_fingerprints[\(index)]"
      do throws(NameFault) {
        let fingerprint = try CertificateFingerprint(text.stringValue ?? "")
        if fingerprint.text == text.stringValue {
          fingerprints.append(fingerprint)
        } else {
          findings.append(.fault(place, "must be written in capitals with colons (AA:BB:…) to be recognised"))
        }
      } catch {
        findings.append(.fault(place, error.description))
      }
    }
    return fingerprints.isEmpty
      ? nil
      : Statement(
        package: package, fingerprints: fingerprints,
        getsLoginCredentials: relations.contains(.string(getsLoginCredentials)))
  }
}
