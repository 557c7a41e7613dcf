// Untrusted association files, and the links that are checked against them.

import Formats

extension FuzzTarget {
  /// A file up to a NUL, if any, then a URL.
  static let association = FuzzTarget("association", bytesMax: 16_384) { bytes in
    let (text, rest) = halves(bytes, at: 0)
    try checkApple(text, String(decoding: rest, as: UTF8.self))
    try checkAndroid(text)
    try checkNames(String(decoding: text.prefix(512), as: UTF8.self))
  }

  private static func checkApple(_ text: [UInt8], _ address: String) throws {
    guard let file = try? AppSiteAssociation.read(text).file else { return }
    let written = file.json.serialized()
    // A file within the limit may exceed it when it is written again.
    if written.count <= AppSiteAssociation.byteCountMax {
      let again = try AppSiteAssociation.read(written).file
      try hold(again.json == file.json, "read again it is another")
    }
    guard let url = try? LinkURL(address) else { return }
    for system in AssociationMatcher.System.allCases {
      let matcher = AssociationMatcher(file, system: system)
      for app in matcher.apps.prefix(8) {
        let verdict = matcher.verdict(for: url, app: app)
        try hold(verdict != .unlisted, "an app that is listed is not")
        guard let place = verdict.place else { continue }
        try hold(file.links?.entries.indices.contains(place.entry) == true, "an entry that there is not")
      }
      try hold(matcher.verdict(for: url, app: "nobody's") == .unlisted, "an app that is not listed is")
    }
  }

  private static func checkAndroid(_ text: [UInt8]) throws {
    guard let file = try? AssetLinks.read(text).file else { return }
    let again = try AssetLinks.read(file.json.serialized())
    try hold(again.file == file, "read again it is another")
    try hold(again.findings.allSatisfy { $0.severity == .note }, "what is written is faulty")
  }

  /// An accepted name cannot break out of a URL, a header or an attribute.
  private static func checkNames(_ text: String) throws {
    let breaking = "\"'<>&;#=/?: \r\n\u{0}"
    for name in [
      (try? PackageName(text))?.text, (try? CustomScheme(text))?.text, (try? AppleAppID(text))?.text,
    ] {
      guard let name else { continue }
      try hold(name == text && !name.contains(where: breaking.contains), "a name that could break out")
    }
    if let fingerprint = try? CertificateFingerprint(text) {
      try hold(fingerprint.text.utf8.count == 95, "a fingerprint of another length")
    }
    let package = try PackageName("com.example.app")
    let origin = try WebOrigin("https://pay.example.com")
    if let intent = IntentURL(
      origin: origin, target: text, package: package, action: text,
      fallback: text)
    {
      let parts = intent.text.split(separator: "#", omittingEmptySubsequences: false)
      try hold(parts.count == 2 && parts[0] == "intent://pay.example.com\(text)", "the target was changed")
      try hold(parts[1].split(separator: ";").count == 6, "a field that nobody wrote")
      try hold(!intent.text.contains(where: "\"<> \r\n".contains), "it could break out")
    }
  }
}
