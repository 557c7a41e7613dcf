// Android's association file: made, and read again.

import Testing

@testable import Formats

struct AssetLinksTests {
  private func fingerprint(_ byte: String) throws -> CertificateFingerprint {
    try CertificateFingerprint(String(repeating: byte, count: 32))
  }

  /// SH01 and SH03.
  @Test func `Each package has one statement with all its fingerprints`() throws {
    let file = AssetLinks([
      .init(
        package: try PackageName("com.example.a"),
        fingerprints: [try fingerprint("ab"), try fingerprint("01")]),
      .init(package: try PackageName("com.example.b"), fingerprints: [try fingerprint("cd")]),
      .init(
        package: try PackageName("com.example.a"),
        fingerprints: [try fingerprint("AB"), try fingerprint("02")]),
    ])
    func text(_ byte: String) -> String { Array(repeating: byte, count: 32).joined(separator: ":") }
    func statement(_ package: String, _ bytes: [String]) -> String {
      #"{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","#
        + #""package_name":"\#(package)","sha256_cert_fingerprints":["#
        + bytes.map { "\"\(text($0))\"" }.joined(separator: ",") + "]}}"
    }
    let bytes = try file.serialized()
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "[\(statement("com.example.a", ["AB", "01", "02"])),\(statement("com.example.b", ["CD"]))]")
    let (read, findings) = try AssetLinks.read(bytes)
    #expect(read == file)
    #expect(findings == [])
  }

  @Test func `An app that shares passwords has both relations`() throws {
    let (a, b) = (try PackageName("com.example.a"), try PackageName("com.example.b"))
    let file = AssetLinks([
      .init(package: a, fingerprints: [try fingerprint("ab")]),
      .init(package: b, fingerprints: [try fingerprint("cd")]),
      .init(package: a, fingerprints: [try fingerprint("ab")], getsLoginCredentials: true),
    ])
    #expect(file.statements.map(\.getsLoginCredentials) == [true, false])
    let links: JSONValue = "delegate_permission/common.handle_all_urls"
    let logins: JSONValue = "delegate_permission/common.get_login_creds"
    guard case .array(let statements) = file.json else {
      Issue.record("not a list: \(file.json)")
      return
    }
    #expect(statements.map { $0["relation"] } == [[links, logins], [links]])
    let (read, findings) = try AssetLinks.read(try file.serialized())
    #expect(read == file)
    #expect(findings == [])
  }

  @Test(arguments: [
    (#"[]"#, "no app"), (#"[{}]"#, "not a statement"),
    (#"[{"relation":["x"],"target":{"namespace":"android_app","package_name":"1"}}]"#, "no app"),
    (
      #"[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app"}}]"#,
      "is not the name"
    ),
    (
      #"[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","#
        + #""package_name":"a.b"}}]"#, "at least one fingerprint"
    ),
    (
      #"[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","#
        + #""package_name":"a.b","sha256_cert_fingerprints":["AB:CD"]}}]"#, "has 2 bytes"
    ),
    (
      #"[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","#
        + #""package_name":"a.b","sha256_cert_fingerprints":["\#(String(repeating: "ab", count: 32))"]}}]"#,
      "in capitals with colons"
    ),
  ])
  func `Each fault of a file has a finding`(text: String, words: String) throws {
    let (file, findings) = try AssetLinks.read(Array(text.utf8))
    #expect(file.statements.isEmpty)
    #expect(findings.contains { $0.message.contains(words) }, "\(findings)")
  }

  @Test(arguments: ["", "{}", "[", "7"])
  func `A text that is not an association file is refused`(text: String) {
    #expect(throws: AssociationFault.self) { try AssetLinks.read(Array(text.utf8)) }
  }

  @Test(arguments: [
    ("https://pay.example.com", "pay.example.com", "", "", ""),
    ("HTTPS://u@Pay.Example.COM.:8443/a/b?c=d?e#f#g", "pay.example.com", "/a/b", "c=d?e", "f#g"),
    ("https://[::1]:80/x", "[::1]", "/x", "", ""), ("https://h?q#f", "h", "", "q", "f"),
  ])
  func `A URL is split without decoding`(
    text: String, host: String, path: String, query: String, fragment: String
  ) throws {
    let url = try LinkURL(text)
    #expect([url.host, url.path, url.query, url.fragment] == [host, path, query, fragment])
  }

  @Test(arguments: [
    "", "x", "pay.example.com/a", "//evil/x", "javascript://x", "https://", "https:///x", "/a\n",
  ])
  func `A text that is neither a web address nor a path is refused`(text: String) {
    #expect(throws: NameFault.self) { try LinkURL(text) }
  }
}
