// Which texts are never the id of a user.

import Domain
import Testing

@Suite("What is never a user's id") struct UserIDRulesTests {
  private static let rules = UserIDRules()

  @Test(arguments: [
    "undefined", "null", "(null)", "<null>", "nil", "none", "nan", "[object Object]", "[object Promise]",
    "{}", "[]", "true", "false", "00000000-0000-0000-0000-000000000000",
  ])
  func `Placeholders of programs are no users, in upper and lower case`(text: String) {
    for spelling in [text, text.uppercased(), text.lowercased(), " \(text)\n"] {
      guard case .refused(_, .missingValue) = Self.rules.read(spelling) else {
        Issue.record("\(spelling) is a user")
        continue
      }
    }
  }

  @Test(arguments: [
    "0", "-1", "unknown", "anonymous", "guest", "no_user", "unidentified", "Anonymous", "GUEST",
  ])
  func `Words for users who have not signed in are no users`(text: String) {
    #expect(Self.rules.read(text) == .refused(UserID(text), .signedOut))
  }

  @Test(arguments: [
    "00", "-10", "guest-1", "null@example.com", "anonymous7", "nothing", "true.name", "ctx", "7",
    "00000000-0000-0000-0000-000000000001",
  ])
  func `Ids that only contain a placeholder are users`(text: String) {
    #expect(Self.rules.read(text) == .user(UserID(text)))
  }

  @Test func `Surrounding ASCII whitespace is no part of an id; other whitespace is`() {
    #expect(Self.rules.read(" \t\r\njdo 1\u{B}\u{C} ") == .user("jdo 1"))
    #expect(Self.rules.read("\u{A0}jdo") == .user("\u{A0}jdo"))
  }

  @Test func `Empty texts, blanks, control characters and long texts are invalid`() {
    for text in ["", " ", "\n", "a\u{7}b", "a\nb", String(repeating: "x", count: 256)] {
      #expect(Self.rules.read(text) == .invalid)
    }
  }

  @Test(arguments: [
    "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD", "ctx_01kagfn8x2m5r7qz3c6v9wj4td", "CTX_1", "Ctx_", " ctx_123 ",
  ])
  func `What begins like the id of a context is no user, whatever its case and its rest`(text: String) {
    guard case .refused(_, .contextID) = Self.rules.read(text) else {
      Issue.record("\(text) is a user")
      return
    }
  }

  @Test func `The configuration refuses more texts, and allows placeholders, without regard to case`() {
    let rules = UserIDRules(refuse: ["Test-User"], allow: ["guest", "0"])
    #expect(rules.read("TEST-USER") == .refused("TEST-USER", .configured))
    #expect(rules.read("Guest") == .user("Guest"))
    #expect(rules.read("0") == .user("0"))
    #expect(rules.read("null") == .refused("null", .missingValue))
    let long = String(repeating: "x", count: 100)
    #expect(UserIDRules(refuse: [long]).read(long) == .refused(UserID(long), .configured))
  }

  @Test func `A text that is refused and allowed is allowed`() {
    #expect(UserIDRules(refuse: ["x"], allow: ["X"]).read("x") == .user("x"))
  }

  @Test func `Rules that are changed later are in force`() {
    var rules = UserIDRules()
    rules.refuse = ["x"]
    #expect(rules.read("x") == .refused("x", .configured))
    rules.allow = ["null"]
    #expect(rules.read("null") == .user("null"))
  }
}
