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
