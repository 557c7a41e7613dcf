import Domain
import Formats
import Testing

@Suite("Identifiers of a user")
struct UserIdentifiersTests {
  private static let names: UserIdentifiers = {
    var names = UserIdentifiers()
    names.users = ["42"]
    for id in ["cus_jane_0001", "short", "/psp/paymentorders/0bf85423-c1e4", "erased:0123456789ab"] {
      names.add(id: id)
    }
    var mentions = Mentions()
    mentions.add(id: "pi_jane_0001")
    mentions.add(reference: "reference-of-many")
    mentions.add(address: "Jane@Example.com")
    names.add(mentions)
    return names
  }()

  @Test func `A whole text is an id or an address; a long id is found inside a text, a short one is not`() {
    let texts: [(text: String, isWhole: Bool, isInside: Bool, isInWords: Bool)] = [
      ("cus_jane_0001", true, true, true), ("short", true, false, true),
      ("jane@example.com ", true, false, true),
      ("https://x/?c=cus_jane_0001&d", false, true, true), ("a pi_jane_0001.", false, true, true),
      ("PUT /0bf85423-c1e4/x", false, true, true), ("cus_jane_00011", false, false, false),
      ("xcus_jane_0001", false, false, false), ("shorter", false, false, false),
      ("42", false, false, true), ("he is 42, short", false, false, true), ("420", false, false, false),
      ("reference-of-many", false, false, false), ("erased:0123456789ab", false, false, false),
      ("", false, false, false),
    ]
    for text in texts {
      #expect(Self.names.isNamed(by: text.text) == text.isWhole, "\(text.text)")
      #expect(Self.names.isNamed(in: text.text.utf8) == text.isInside, "\(text.text)")
      #expect(Self.names.isNamed(inWords: text.text) == text.isInWords, "\(text.text)")
    }
    #expect(!UserIdentifiers().isNamed(in: "cus_jane_0001".utf8))
  }

  @Test("An event loses the user's id where one stands, with white space too, and the ids of contexts")
  func blanked() {
    var names = UserIdentifiers()
    names.users = ["jane-7"]
    names.add(id: "ctx_01KAPJ3Z5YV4GQ8T2M6N9R7XWB")
    let event: JSONValue = [
      "id": "jane-7", "amount": 5,
      "client_reference_id": " ctx_0lkapj3z5yv4gq8t2m6n9r7xwb ",
      "metadata": ["user_id": " jane-7\n", "ply_user_id": "john", "app": "jane-77"],
      "customer": ["id": "cus_1", "metadata": ["user_id": "jane-7"]],
      "lines": [["description": "jane-7", "metadata": ["ply_context_id": "CTX_01KAPJ3Z5YV4GQ8T2M6N9R7XWB"]]],
    ]
    let rest: JSONValue = [
      "id": "jane-7", "amount": 5, "client_reference_id": "",
      "metadata": ["user_id": "", "ply_user_id": "john", "app": "jane-77"],
      "customer": ["id": "cus_1", "metadata": ["user_id": ""]],
      "lines": [["description": "jane-7", "metadata": ["ply_context_id": ""]]],
    ]
    #expect(names.blanked(event) == rest)
    #expect(names.isNamed(inEvent: event))
    #expect(!names.isNamed(inEvent: rest))
  }
}
