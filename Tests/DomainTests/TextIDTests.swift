// Tests that ids compare as in the database: by their bytes.

import Domain
import Testing

@Suite("Typed ids")
struct TextIDTests {
  private let composed: UserID = "caf\u{E9}"
  private let decomposed: UserID = "cafe\u{301}"

  @Test func `Two spellings of one character are different ids`() {
    #expect(composed.text == decomposed.text, "Swift takes the texts for equal")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, composed]).count == 2)
    let places = [
      AppDestination(AppSlug(composed.text), "x"): 1, AppDestination(AppSlug(decomposed.text), "x"): 2,
    ]
    #expect(places[AppDestination("caf\u{E9}", "x")] == 1)
    #expect(places[AppDestination("cafe\u{301}", "x")] == 2)
  }

  @Test func `Spellings with the same number of bytes are different ids, too`() {
    let (one, other): (UserID, UserID) = ("q\u{307}\u{323}", "q\u{323}\u{307}")
    #expect(one.text == other.text, "Swift takes the texts for equal")
    #expect(one != other)
    #expect(Set([one, other]).count == 2)
  }

  @Test(arguments: [0, 5, 15, 16, 255, 4096])
  func `Equal bytes are equal ids, whatever made the text`(count: Int) {
    let text = String(repeating: "x", count: count)
    let (one, other) = (ObjectID(text), ObjectID(String(decoding: Array(text.utf8), as: UTF8.self)))
    #expect(one == other)
    #expect(Set([one]).contains(other))
    #expect(one != ObjectID(text + "x"))
    #expect(one != ObjectID("y" + text.dropFirst()) || count == 0)
  }

  @Test func `They are ordered by bytes, as SQLite's BINARY collation orders them`() {
    // U+FF5E has a greater UTF-16 code unit than U+1F600, and lesser bytes.
    let ordered: [UserID] = [
      "", "A", "Z", "a", "a\0", "ab", "cafe\u{301}", "caf\u{E9}", "\u{FF5E}", "\u{1F600}",
    ]
    #expect(ordered.shuffled().sorted() == ordered)
    for (one, other) in zip(ordered, ordered.dropFirst()) {
      #expect(one < other)
      #expect(!(other < one))
    }
  }

  @Test func `A literal with values in it is an id, and an id in a text is its own text`() {
    let number = 7
    let id: ObjectID = "sub_\(number)"
    #expect(id.text == "sub_7")
    #expect("\(id)/\(composed)" == "sub_7/\(composed.text)")
    #expect(ObjectID(SessionID("cs_\(number)")) == "cs_7")
  }

  @Test func `The id of a receipt or a job contains its row, that of another prefix none`() {
    var random = SystemRandomNumberGenerator()
    let now = Timestamp(unixMilliseconds: 1_800_000_000_000)
    #expect(ReceiptID.make(now: now, number: 42, random: &random).purchaseRow == 42)
    let job = JobID.make(now: now, number: 43, random: &random)
    #expect(job.row == 43)
    #expect(ReceiptID(job.text).purchaseRow == nil)
    #expect(PurchaseRowID(9) < PurchaseRowID(10))
    #expect("\(PurchaseRowID(9))" == "9")
  }
}
