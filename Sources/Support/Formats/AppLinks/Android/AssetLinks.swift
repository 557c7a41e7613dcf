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
      Statement(
        package: $0, fingerprints: fingerprints[$0] ?? [], getsLoginCredentials: sharing.contains($0))
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
