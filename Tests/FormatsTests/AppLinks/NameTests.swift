// Names of apps, schemes and certificates: valid and invalid input, and its formatting.

import Testing

@testable import Formats

struct NameTests {
  @Test(arguments: ["com.example.app", "a.b", "Com.Example_2.App", "a.b.c.d.e"])
  func `A package name is kept unchanged`(text: String) throws {
    #expect(try PackageName(text).text == text)
  }

  /// SC04 and SH04: a text that could end an intent URL or an attribute is not a package name.
  @Test(arguments: [
    "", "a", "1a.b", "a.1b", "a..b", ".a.b", "a.b.", "com.example.app;S.browser_fallback_url=x",
    "\"><script>", "com.exämple.app", "com.example.other ", "com.example.other\n", "_a.b", "com.ex-ample.app",
    "com.example.app\u{0}", "a.b" + String(repeating: "c", count: 253),
  ])
  func `A text that is not a package name is refused without being reflected`(text: String) {
    let fault = #expect(throws: NameFault.self) { try PackageName(text) }
    #expect(text.utf8.count < 4 || fault?.description.contains(text) == false)
  }

  @Test func `A package name has 255 characters at most`() throws {
    let longest = "a.b" + String(repeating: "c", count: 252)
    #expect(try PackageName(longest).text == longest)
  }

  @Test(arguments: ["ABCDE12345.com.example.app", "0123456789.a", "TEAMID1234.com.example.app-2.Clip"])
  func `An app id is ten characters, a dot and a bundle id`(text: String) throws {
    let id = try AppleAppID(text)
    #expect(id.text == text)
    #expect(String(id.bundleID) == text.split(separator: ".", maxSplits: 1)[1])
  }

  @Test(arguments: [
    "", "ABCDE12345", "ABCDE12345.", "abcde12345.com.example.app", "ABCDE1234.com.example.app",
    "ABCDE123456.com.example.app", "ABCDE12345.com..app", "ABCDE12345.com.example.*", "ABCDE12345.com.app ",
    "ABCDÉ2345.com.example", "ABCDE12345.com_example", "com.example.app",
    "ABCDE12345." + String(repeating: "a", count: 245),
  ])
  func `A text that is not an app id is refused`(text: String) {
    #expect(throws: NameFault.self) { try AppleAppID(text) }
  }

  /// SC11 and SC14.
  @Test(arguments: ["yourecomapp", "YourEcomApp", "com.example.my-app+pay", "a", "x1", "httpsapp", "mydata"])
  func `An app's scheme keeps its case`(text: String) throws {
    #expect(try CustomScheme(text).text == text)
    #expect(try CustomScheme(text).isNamed(text.uppercased()))
  }

  /// SC13: schemes that run code, fetch, call or open stores, in any case, and texts that could end the
  /// scheme.
  @Test(arguments: [
    "javascript", "JavaScript", "jAVAscript", "data", "vbscript", "file", "blob", "about", "view-source",
    "filesystem", "http", "HTTPS", "ws", "wss", "ftp", "intent", "android-app", "content", "chrome", "tel",
    "sms", "mailto", "market", "itms", "itms-apps", "ITMS-services", "itmss",
    "https://evil.test/x?", "https://evil.test#", "https://evil.test/", "//evil.test", "a b", "1app", "",
    "a\r\nSet-Cookie:x=1", "app:", "äpp", "a\u{0}", "a%0d", "+a", String(repeating: "a", count: 64),
    String(repeating: "a", count: 200),
  ])
  func `A scheme that an app cannot own is refused`(text: String) {
    #expect(throws: NameFault.self) { try CustomScheme(text) }
  }

  /// SH02.
  @Test(arguments: [
    "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:C6:20:FE:BA:CD",
    "14:6d:e9:83:c5:73:06:50:d8:ee:b9:95:2f:34:fc:64:16:a0:83:42:e6:1d:be:a8:8a:04:96:c6:20:fe:ba:cd",
    "146DE983C5730650D8EEB9952F34FC6416A08342E61DBEA88A0496C620FEBACD",
    "146de983c5730650d8eeb9952f34fc6416a08342e61dbea88a0496c620febacd",
    " 14 6d e9 83 c5 73 06 50 d8 ee b9 95 2f 34 fc 64 16 a0 83 42 e6 1d be a8 8a 04 96 c6 20 fe ba cd ",
  ])
  func `A fingerprint is written in the one form that Android reads`(text: String) throws {
    #expect(
      try CertificateFingerprint(text).text
        == "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:C6:20:FE:BA:CD")
  }

  /// SH04.
  @Test(arguments: [
    ("", "has 0 bytes"), ("AA", "has 1 bytes"), (String(repeating: "ab", count: 31), "has 31 bytes"),
    (String(repeating: "ab", count: 31) + "a", "has 31 and a half bytes"),
    (String(repeating: "ab", count: 33), "more than 32 bytes"),
    (String(repeating: "ab", count: 5_000), "more than 32 bytes"),
    (String(repeating: "ab", count: 20), "SHA-1"),
    (String(repeating: "gg", count: 32), "not a fingerprint"),
    (String(repeating: "a:b", count: 32), "not a fingerprint"),
    (String(repeating: "ab-", count: 32), "not a fingerprint"),
    ("SHA256: " + String(repeating: "ab", count: 32), "not a fingerprint"),
  ])
  func `A fingerprint of another size or form is a fault with the reason`(text: String, words: String) {
    let fault = #expect(throws: NameFault.self) { try CertificateFingerprint(text) }
    #expect(fault?.description.contains(words) == true)
  }
}
