// The language of the public pages, and that every language has all texts.

import Testing

@testable import Web

@Suite("The language of a page") struct PageLanguageTests {
  @Test(
    "The page has the preferred language that it supports (RFC 9110 §12.5.4)",
    arguments: [
      ([], .en), (["de"], .de), (["de-CH"], .de), (["DE-ch-1996"], .de), (["fr;q=0.5, sv;q=0.8"], .sv),
      (["pl, pt-BR;q=0.9, en;q=0.8"], .pt), (["pl"], .en), (["fr", "de"], .fr),
      (["it ; q=0.3", "\tnl;q=0.301"], .nl), (["fi;q=1.000,da;q=1"], .fi), (["es;Q=0.9, en;q=0.1"], .es),
      // Norwegian variants.
      (["nb"], .nb), (["nn-NO"], .nb), (["no"], .nb), (["se, nn;q=0.9, sv;q=0.8"], .nb),
      // Right to left, and Asian languages.
      (["ar-EG"], .ar), (["he"], .he), (["iw-IL"], .he), (["ja-JP"], .ja), (["ko"], .ko), (["zh"], .zhHans),
      (["zh-CN, en;q=0.5"], .zhHans), (["zh-Hans-HK"], .zhHans), (["zh-TW, ja;q=0.9"], .ja),
      (["zh-Hant-CN"], .en), (["zh-hk"], .en),
      // `*` matches any other language that is not refused.
      (["*"], .en), (["*;q=0.5, de;q=0.1"], .en), (["de;q=0, *"], .en), (["en;q=0, *;q=0.1"], .de),
      (["de;q=0, de-DE, fr;q=0.2"], .fr), (["de-CH;q=0, de;q=0.4"], .de), (["en;q=0"], .en),
      (["fr;q=0.000"], .en),
      // Malformed parts are ignored.
      (["de;q=2, fr;q=0.1"], .fr), (["de;q=0.1234, it;q=0.1"], .it), (["de;q=, nl"], .nl),
      (["de;q=nan, nl;q=0.1"], .nl), (["de;q=1e0, nl;q=0.1"], .nl), (["de;level=1, nl;q=0.1"], .nl),
      (["de;q=-1, nl;q=0.1"], .nl), (["d\u{E9}, nl"], .nl), (["<script>, nl"], .nl), (["-de, nl"], .nl),
      (["de--AT, nl"], .nl), (["deutschland, nl"], .nl), (["de_DE, nl"], .nl), ([",;,;q=1, ,nl"], .nl),
      (["", "sv"], .sv), (["**, sv"], .sv), (["de;q=1.001, sv"], .sv), (["de;q=.5, sv;q=0.1"], .sv),
    ] as [([String], PageLanguage)])
  func preferred(fields: [String], language: PageLanguage) {
    #expect(PageLanguage(preferredIn: fields) == language)
  }

  @Test func `Of a long Accept-Language only the first part is read`() {
    let many = Array(repeating: "xx", count: 100_000).joined(separator: ",")
    #expect(PageLanguage(preferredIn: [many + ",de"]) == .en)
    #expect(PageLanguage(preferredIn: Array(repeating: "xx,yy", count: 50) + ["de"]) == .en)
    #expect(PageLanguage(preferredIn: ["xx,yy", "de"]) == .de)
    #expect(PageLanguage(preferredIn: [String(repeating: "a-", count: 50_000), "de"]) == .de)
  }

  @Test(
    "A tag names a language, with or without a region",
    arguments: [
      ("sv-SE", .sv), ("nb-NO", .nb), ("no", .nb), ("EN-us", .en), ("da", .da), ("x", .en), ("", .en),
      (nil, .en), ("de\r\n", .en), ("zh-Hant", .en), ("zh-Hans-CN", .zhHans), ("ar", .ar), ("fi-FI", .fi),
    ] as [(String?, PageLanguage)])
  func tags(tag: String?, language: PageLanguage) { #expect(PageLanguage(tag: tag) == language) }

  @Test(arguments: PageLanguage.allCases)
  func `Every file has every text, with the app's name where English has it`(language: PageLanguage) {
    let outcomes = [
      ReturnOutcome.allCases.map(\.rawValue), ReturnOutcome.Success.allCases.map(\.rawValue),
      ReturnOutcome.Back.allCases.map(\.rawValue),
    ].joined().flatMap { ["\($0).heading", "\($0).text"] }
    let names = PageWords.Key.allCases.map(\.rawValue) + outcomes
    let phrases = language.words.phrases
    #expect(phrases.keys.sorted() == names.sorted())
    for (name, phrase) in phrases {
      #expect(phrase.hasPlace == PageWords.english.phrases[name]?.hasPlace, "\(name)")
    }
  }

  private static func messages(_ words: PageWords) -> [PageWords.Message] {
    ReturnOutcome.allCases.map { words[$0] } + ReturnOutcome.Success.allCases.map { words[$0] }
      + ReturnOutcome.Back.allCases.map { words[$0] }
  }

  @Test func `A text that a language lacks is shown in English`() {
    let words = PageWords(Array(#"{"backTo": "Terug naar {app}", "paid.heading": 7}"#.utf8))
    #expect(words[.backTo].text(app: "Shop") == "Terug naar Shop")
    #expect(words[.support].text == PageWords.english[.support].text)
    #expect(words[.paid].heading.text == PageWords.english[.paid].heading.text)
    #expect(PageWords(Array("no JSON".utf8))[.item].text == "Item")
  }

  @Test(arguments: PageLanguage.allCases)
  func `Every language has all texts, in its own words`(language: PageLanguage) {
    let app = "Q&A 7"
    let words = language.words
    let messages = Self.messages(words)
    let texts =
      PageWords.Key.allCases.map { words[$0].text(app: app) }
      + messages.flatMap { [$0.heading.text(app: app), $0.text.text(app: app)] }
    for text in texts {
      #expect(!text.isEmpty, "\(text)")
      #expect(!text.contains("  "), "\(text)")
      #expect(text == text.trimmingBlanks, "\(text)")
      #expect(!text.contains("'"), "marks of the language: \(text)")
      #expect(!text.contains("\""), "marks of the language: \(text)")
      #expect(!text.contains("{"), "a misspelt place: \(text)")
    }
    for message in messages {
      #expect([".", "。"].contains(message.text.text(app: "").last))
      #expect(![".", "。"].contains(message.heading.text(app: app).last))
    }
    // A customer who paid nothing does not read that a payment was received.
    let received = words[.paid].heading.text(app: app)
    for success in ReturnOutcome.Success.allCases {
      #expect(words[success].heading.text(app: app) != received)
      #expect(!words[success].text.text(app: app).contains(received))
    }
    // A customer who has paid is never asked to pay, whatever the receipt's state.
    #expect(Set([words[.undelivered], words[.unpaid]].map { $0.heading.text(app: app) }).count == 2)
    #expect(words[.undelivered].heading.text(app: app) == words[.paid].heading.text(app: app))
    for other in PageLanguage.allCases where other != language {
      for (one, two) in zip(messages, Self.messages(other.words)) {
        #expect(one.text.text(app: app) != two.text.text(app: app), "\(language) and \(other)")
      }
    }
  }
}

extension String {
  fileprivate var trimmingBlanks: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
