// Tests that a dictionary contains nothing of a single customer, however the customer's events look.

import Domain
import Glibc
import Store
import TestSupport
import Testing

@testable import Upkeep

/// Bytes in which many texts are looked for.
struct SearchedBytes {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// By functions of C: thousands of texts are looked for, and under a sanitizer each step of a search in
  /// Swift allocates memory.
  func has(_ text: String) -> Bool {
    let text = Array(text.utf8)
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let first = text.first, var place = bytes.baseAddress else { return false }
      let end = unsafe place + bytes.count
      while unsafe end - place >= text.count,
        let found = unsafe memchr(place, Int32(first), end - place - text.count + 1)
      {
        if unsafe memcmp(found, text, text.count) == 0 { return true }
        unsafe place = UnsafeRawPointer(found) + 1
      }
      return false
    }
  }
}

@Suite("Samples without personal data")
struct AnonymousSamplesTests {
  typealias Bodies = [(body: [UInt8], owner: String)]

  /// Two events of each customer.
  static func bodies(customers: Int) -> Bodies {
    (0..<customers * 2).map { (SampleEvent($0, customer: $0 / 2).body, "user-\($0 / 2)") }
  }

  static func personal(customers: Int) -> Set<String> {
    Set((0..<customers * 2).flatMap { SampleEvent($0, customer: $0 / 2).personal })
  }

  private func text(_ samples: AnonymousSamples, _ body: String, seed: UInt64 = 1) -> String? {
    var filler = Filler(seed: seed)
    return samples.sample(Array(body.utf8), &filler).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("No id, name, address or number of any customer is in the dictionary, or in a sample")
  func nothingPersonal() throws {
    let bodies = Self.bodies(customers: 300)
    let candidate = try #require(DictionaryCandidate(from: bodies, present: nil, seed: 1))
    let raw = try DictionaryTraining.dictionary(
      from: Array(bodies.map(\.body).joined()), sizes: bodies.map(\.body.count),
      bytesMax: DictionaryCandidate.bytesMax)
    let personal = Self.personal(customers: 300)
    #expect(personal.count == 3900)
    let (learned, rawLearned) = (SearchedBytes(candidate.content), SearchedBytes(raw))
    #expect(personal.filter(learned.has) == [])
    #expect(personal.filter(rawLearned.has).count > 50, "a test that cannot fail")
    let anonymous = AnonymousSamples(bodies)
    var filler = Filler(seed: 2)
    for (body, _) in bodies.prefix(10) {
      let sample = SearchedBytes(try #require(anonymous.sample(body, &filler)))
      #expect(personal.filter(sample.has) == [])
    }
  }

  @Test("What all events have in common is learned: the dictionary makes them at most a quarter as large")
  func learns() throws {
    let candidate = try #require(
      DictionaryCandidate(from: Self.bodies(customers: 300), present: nil, seed: 1))
    for text in ["\"payment_method_collection\"", "\"checkout.session\"", "https://shop.example/thanks"] {
      #expect(SearchedBytes(candidate.content).has(text), "\(text)")
    }
    #expect(candidate.isWorthStoring)
    #expect(candidate.sizes.present == candidate.sizes.received)
    #expect(candidate.sizes.new * 4 < candidate.sizes.received, "\(candidate.sizes)")
  }

  @Test("One customer's name stays out, even if it is a key or a word, and most events are the customer's")
  func heavyCustomer() throws {
    let more = #", "nickname": "janedoe", "janedoe": "likesblue""#
    let heavy = (0..<300).map { (SampleEvent(5000 + $0, customer: 1, metadata: more).body, "user-jane") }
    let bodies = Self.bodies(customers: 60) + heavy
    let candidate = try #require(DictionaryCandidate(from: bodies, present: nil, seed: 1))
    let personal = ["janedoe", "likesblue", "nickname"] + SampleEvent(5000, customer: 1).personal
    #expect(personal.filter(SearchedBytes(candidate.content).has) == [])
    let raw = try DictionaryTraining.dictionary(
      from: Array(bodies.map(\.body).joined()), sizes: bodies.map(\.body.count),
      bytesMax: DictionaryCandidate.bytesMax)
    #expect(SearchedBytes(raw).has("janedoe"), "a test that cannot fail")
  }

  @Test("With fewer than twenty customers nothing of their events stays but punctuation and words of JSON")
  func fewCustomers() {
    let bodies = Self.bodies(customers: 19)
    let anonymous = AnonymousSamples(bodies)
    let sample = text(anonymous, String(decoding: bodies[0].body, as: UTF8.self))
    #expect(sample?.contains("object") == false)
    #expect(sample?.contains("null") == true)
  }

  @Test("A text stays if a tenth of the customers have it, and at least twenty")
  func threshold() {
    func samples(_ customers: Int, with text: Int) -> AnonymousSamples {
      AnonymousSamples(
        (0..<customers).map { (Array((#"{"word": "\#($0 < text ? "common" : "other")"}"#).utf8), "\($0)") })
    }
    let body = #"{"word": "common", "another": 17}"#
    #expect(text(samples(300, with: 30), body)?.hasPrefix(#"{"word": "common", ""#) == true)
    #expect(text(samples(300, with: 29), body)?.contains("common") == false)
    #expect(text(samples(100, with: 20), body)?.contains("common") == true)
    #expect(text(samples(100, with: 19), body)?.contains("common") == false)
  }

  static let tokens: [(token: String, mayStay: Bool)] = [
    ("\"\"", true), ("\"object\"", true), ("\"checkout.session\"", true), ("\"eur\"", true), ("\"SE\"", true),
    ("\"EUR\"", true), ("\"price_1MbKJ\"", true), ("\"https://shop.example/thanks\"", true), ("4999", true),
    ("\"ann@mail.example\"", false), ("\"Ann Example\"", false), ("\"Anna\"", false), ("\"ANNA\"", false),
    ("\"Anne-Marie\"", false), ("\"O'Brien\"", false), ("\"J.Smith\"", false), ("\"en-us\"", true),
    ("\"+46701234567\"", false), ("\"(070) 123\"", false), ("\"12345\"", false), ("\"123\"", true),
    ("\"12 Street\"", false), ("\"Åsa\"", false), ("\"line\\nbreak\"", true), ("\"tab\tin it\"", false),
    ("\"\(String(repeating: "a", count: 2000))\"", false),
  ]

  @Test("Texts in the form of names and addresses never stay, however many have them", arguments: tokens)
  func form(_ form: (token: String, mayStay: Bool)) {
    #expect(AnonymousSamples.mayBeShared(Array(form.token.utf8)[...]) == form.mayStay)
  }

  @Test("A replaced text keeps its length and its kinds of characters, and no character of others")
  func filler() throws {
    let body = #"{"Åsa-7": ["K9.x@y\"\u00e5", -12.5e3, true]}"#
    let first = try #require(text(AnonymousSamples([]), body))
    let second = try #require(text(AnonymousSamples([]), body, seed: 99))
    #expect(first != second)
    let form = #/\{"[a-z]{4}-\d": \["[A-Z]\d\.[a-z]@[a-z]\\"\\[a-z]\d\d[a-z]\d", -\d\d\.\d[a-z]\d, true\]\}/#
    for text in [first, second] {
      #expect(text.utf8.count == body.utf8.count)
      #expect(text.wholeMatch(of: form) != nil, "\(text)")
    }
    #expect(text(AnonymousSamples([]), #"{"a": "#) == nil, "it is not JSON")
  }
}
