// Evaluates Apple's association file for URLs. The verdicts are those of Apple's tool `swcutil` for
// equivalent files and URLs, or of Apple's documentation.

import Testing

@testable import Formats

/// A file with one app, and one URL.
struct MatchingCase: Sendable, CustomTestStringConvertible {
  let rules: String
  let url: String
  let expected: String
  var extra = ""

  init(_ rules: String, _ url: String, _ expected: String, extra: String = "") {
    self.rules = rules
    self.url = url
    self.expected = expected
    self.extra = extra
  }

  var testDescription: String { "\(rules) \(extra) \(url)" }

  func outcome() throws -> String {
    let app = "ABCDE12345.com.example.app"
    let text = "{\"applinks\":{\(extra)\"details\":[{\"appIDs\":[\"\(app)\"],\"components\":[\(rules)]}]}}"
    let matcher = AssociationMatcher(try AppSiteAssociation.read(Array(text.utf8)).file)
    let address = url.hasPrefix("/") || url.hasPrefix("https") ? url : "https://shop.example\(url)"
    switch matcher.verdict(for: try LinkURL(address), app: app) {
    case .opens: return "app"
    case .excluded: return "excluded"
    case .unmatched: return "none"
    case .unlisted: return "unlisted"
    }
  }
}

/// SH07.
struct AppSiteAssociationMatchingTests {
  @Test(arguments: [
    // A star matches any run of characters, including slashes; the part before `/*` also matches.
    MatchingCase(#"{"/":"/offers/*"}"#, "/offers", "app"),
    MatchingCase(#"{"/":"/offers/*"}"#, "/offers/", "app"),
    MatchingCase(#"{"/":"/offers/*"}"#, "/offers/7/x", "app"),
    MatchingCase(#"{"/":"/offers/*"}"#, "/offersale", "none"),
    MatchingCase(#"{"/":"/offers/*"}"#, "/offer", "none"), MatchingCase(#"{"/":"/o/p/*"}"#, "/o/p", "app"),
    MatchingCase(#"{"/":"/offers*"}"#, "/offers", "app"), MatchingCase(#"{"/":"/o/*/p"}"#, "/o/p", "none"),
    MatchingCase(#"{"/":"/o/*/p"}"#, "/o//p", "app"), MatchingCase(#"{"/":"/o/*/p"}"#, "/o/1/2/p", "app"),
    // Leading and trailing slashes are ignored, but none is added.
    MatchingCase(#"{"/":"offers"}"#, "/offers", "app"),
    MatchingCase(#"{"/":"offers/*"}"#, "/offers/1", "app"),
    MatchingCase(#"{"/":"offers"}"#, "/offers1", "none"),
    MatchingCase(#"{"/":"offers"}"#, "/xoffers", "none"),
    MatchingCase(#"{"/":"offers/*"}"#, "/offers", "app"), MatchingCase(#"{"/":"*ers"}"#, "/xers", "app"),
    MatchingCase(#"{"/":"//offers"}"#, "/offers", "app"), MatchingCase(#"{"/":"o/p"}"#, "/o/p", "app"),
    MatchingCase(#"{"/":"/offers/"}"#, "/offers", "app"), MatchingCase(#"{"/":"/o/p/"}"#, "/o/p", "app"),
    MatchingCase(#"{"/":"/offers"}"#, "/offers/", "app"),
    MatchingCase(#"{"/":"/offers/*"}"#, "/offers//", "app"),
    MatchingCase(#"{"/":"/offers/"}"#, "/offers//", "app"), MatchingCase(#"{"/":"/"}"#, "/", "app"),
    MatchingCase(#"{"/":"/"}"#, "https://shop.example", "app"),
    MatchingCase(#"{"/":"/"}"#, "https://shop.example?a#b", "app"),
    MatchingCase(#"{"/":"/id/????"}"#, "/id/1234", "app"),
    MatchingCase(#"{"/":"/id/????"}"#, "/id/123", "none"),
    MatchingCase(#"{"/":"/id/????"}"#, "/id/123/", "none"), MatchingCase(#"{"/":"/i/?*"}"#, "/i/", "none"),
    MatchingCase(#"{"/":"/i/?*"}"#, "/i", "none"), MatchingCase(#"{"/":"/i/?*"}"#, "/i/a", "app"),
    MatchingCase(#"{"/":"*"}"#, "/", "app"), MatchingCase(#"{"/":"/*"}"#, "/", "app"),
    MatchingCase(#"{"/":"/*"}"#, "/a/b?c", "app"), MatchingCase(#"{"/":""}"#, "/a", "none"),
  ])
  func `Paths match as in Apple's tool`(each: MatchingCase) throws {
    #expect(try each.outcome() == each.expected)
  }

  @Test(arguments: [
    // A missing item is empty; an item that the rule does not mention may have any value.
    MatchingCase(#"{"?":{"b":"*"}}"#, "/x?a=1", "app"), MatchingCase(#"{"?":{"b":"?*"}}"#, "/x?a=1", "none"),
    MatchingCase(#"{"?":{"b":""}}"#, "/x?a=1", "app"), MatchingCase(#"{"?":{"b":"1"}}"#, "/x?a=1", "none"),
    MatchingCase(#"{"?":{"b":"*"}}"#, "/x", "app"),
    MatchingCase(#"{"?":{"a":"1","b":"*"}}"#, "/x?a=1", "app"),
    MatchingCase(#"{"?":{"a":"1"}}"#, "/x?a=1&b=2", "app"), MatchingCase(#"{"?":{"a":""}}"#, "/x?a", "app"),
    MatchingCase(#"{"?":{"a":"1=2"}}"#, "/x?a=1=2", "app"), MatchingCase(#"{"?":{}}"#, "/x?a", "app"),
    // Each of several items with one name must match.
    MatchingCase(#"{"?":{"n":"4"}}"#, "/x?n=4&n=7", "none"),
    MatchingCase(#"{"?":{"n":"4"}}"#, "/x?n=7&n=4", "none"),
    MatchingCase(#"{"?":{"n":"4"}}"#, "/x?n=7&n=4&n=9", "none"),
    MatchingCase(#"{"?":{"n":"*"}}"#, "/x?n=7&n=4", "app"),
    MatchingCase(#"{"?":{"n":"4,7"}}"#, "/x?n=4&n=7", "none"),
    MatchingCase(#"{"?":{"n":""}}"#, "/x?n=7&n=4", "none"),
    MatchingCase(#"{"?":{"n":"?*"}}"#, "/x?n=7&n=4", "app"),
    MatchingCase(#"{"?":{"n":"4"}}"#, "/x?n=4&n=4", "app"),
    // One value that is not a string makes devices ignore the whole dictionary.
    MatchingCase(#"{"?":{"f":true}}"#, "/x?f=1", "app"), MatchingCase(#"{"?":{"f":false}}"#, "/x?o=1", "app"),
    MatchingCase(#"{"?":{"n":5}}"#, "/x?n=6", "app"), MatchingCase(#"{"?":{"n":null}}"#, "/x?n=5", "app"),
    MatchingCase(#"{"?":{"a":"1","f":true}}"#, "/x?a=2", "app"),
    MatchingCase(#"{"?":{"a":["1"]}}"#, "/x?a=2", "app"),
    MatchingCase(#"{"?":{"a":{"b":"1"}}}"#, "/x?a=2", "app"),
    MatchingCase(#"{"/":"/y","?":{"f":true}}"#, "/x?f=1", "none"),
    // A string is a pattern for the whole query.
    MatchingCase(#"{"?":"a=1"}"#, "/x?a=1", "app"), MatchingCase(#"{"?":"a=1"}"#, "/x?a=1&b=2", "none"),
    MatchingCase(#"{"?":"*"}"#, "/x", "app"), MatchingCase(#"{"?":"?*"}"#, "/x", "none"),
    MatchingCase(#"{"?":""}"#, "/x", "app"), MatchingCase(#"{"?":"a=1"}"#, "/x", "none"),
    // Fragments.
    MatchingCase(##"{"#":"*"}"##, "/x", "app"), MatchingCase(##"{"#":"?*"}"##, "/x", "none"),
    MatchingCase(##"{"#":""}"##, "/x", "app"), MatchingCase(##"{"#":"top"}"##, "/a/b?c=d#top", "app"),
    MatchingCase(##"{"#":"top"}"##, "/a#to", "none"), MatchingCase(##"{"#":"a#b?c"}"##, "/a#a#b?c", "app"),
    // All parts of a rule must match.
    MatchingCase(##"{"/":"abc","?":"def","#":"*"}"##, "/abc?def", "app"),
    MatchingCase(##"{"/":"abc","?":"def","#":"*"}"##, "/abc", "none"),
    MatchingCase(##"{"/":"abc","?":"def","#":"*"}"##, "https://shop.example?def", "none"),
    // Unknown keys are ignored.
    MatchingCase(#"{"/":"/foo/*","colour":"x"}"#, "/bar", "none"),
    MatchingCase(#"{"colour":"x"}"#, "/bar", "app"),
    MatchingCase(#"{}"#, "/bar", "app"),
    MatchingCase(#"{"/":"/foo/*","casesensitive":false}"#, "/FOO/1", "none"),
    MatchingCase(#"{"/":"/foo/*","new":{"a":"b"}}"#, "/foo/1", "app"), MatchingCase("", "/bar", "none"),
  ])
  func `Queries and fragments match as in Apple's tool`(each: MatchingCase) throws {
    #expect(try each.outcome() == each.expected)
  }

  @Test(arguments: [
    MatchingCase(#"{"/":"/a%20b"}"#, "/a%20b", "app"), MatchingCase(#"{"/":"/a b"}"#, "/a%20b", "none"),
    MatchingCase(#"{"/":"/a b","percentEncoded":false}"#, "/a%20b", "app"),
    MatchingCase(#"{"/":"/a%20b","percentEncoded":false}"#, "/a%20b", "none"),
    MatchingCase(#"{"/":"/a/b"}"#, "/a%2Fb", "none"),
    MatchingCase(#"{"/":"/a/b","percentEncoded":false}"#, "/a%2Fb", "app"),
    MatchingCase(#"{"/":"/th%C3%A9"}"#, "/th%c3%a9", "none"),
    MatchingCase(#"{"/":"/thé"}"#, "/th%C3%A9", "none"),
    MatchingCase(#"{"/":"/thé/*","percentEncoded":false}"#, "/th%C3%A9/menu", "app"),
    MatchingCase(#"{"/":"/th?","percentEncoded":false}"#, "/th%C3%A9", "app"),
    MatchingCase(#"{"/":"/th?"}"#, "/th%C3%A9", "none"),
    MatchingCase(#"{"/":"/a%zz","percentEncoded":false}"#, "/a%zz", "app"),
    MatchingCase(#"{"/":"/%ff","percentEncoded":false}"#, "/%ff", "app"),
    MatchingCase(#"{"?":{"q":"a b"},"percentEncoded":false}"#, "/?q=a%20b", "app"),
    MatchingCase(#"{"/":"/Help/*"}"#, "/help/1", "none"),
    MatchingCase(#"{"/":"/Help/*","caseSensitive":false}"#, "/hELP/1", "app"),
    MatchingCase(#"{"/":"/É","caseSensitive":false,"percentEncoded":false}"#, "/%C3%A9", "app"),
    MatchingCase(#"{"?":{"Q":"A"},"caseSensitive":false}"#, "/?q=a", "app"),
    // Defaults of the file, the entry and the rule: the innermost wins, for each key.
    MatchingCase(##"{"#":"*"}"##, "/bar", "none", extra: #""defaults":{"/":"/foo/*"},"#),
    MatchingCase(##"{"#":"*"}"##, "/foo/1", "app", extra: #""defaults":{"/":"/foo/*"},"#),
    MatchingCase(##"{"#":"*"}"##, "/bar", "excluded", extra: #""defaults":{"exclude":true},"#),
    MatchingCase(##"{"#":"*"}"##, "/bar?id=7", "none", extra: #""defaults":{"?":{"id":"??"}},"#),
    MatchingCase(#"{"/":"/foo"}"#, "/FOO", "none", extra: #""defaults":{"caseSensitive":true},"#),
    MatchingCase(#"{"/":"/foo"}"#, "/FOO", "app", extra: #""defaults":{"caseSensitive":false},"#),
    MatchingCase(
      #"{"/":"/foo","caseSensitive":true}"#, "/FOO", "none", extra: #""defaults":{"caseSensitive":false},"#),
    MatchingCase(#"{"/":"/a b"}"#, "/a%20b", "app", extra: #""defaults":{"percentEncoded":false},"#),
  ])
  func `Case, encoding and defaults are read as by Apple's tool`(each: MatchingCase) throws {
    #expect(try each.outcome() == each.expected)
  }

  private static let places =
    #""substitutionVariables":{"dish":["soup","stew"],"kind":["a*z","b?"],"in":["$(dish)"]},"#

  @Test(arguments: [
    MatchingCase(#"{"/":"/$(lang)_$(region)/$(dish)/"}"#, "/en_US/stew/", "app", extra: places),
    MatchingCase(#"{"/":"/$(lang)_$(region)/$(dish)/"}"#, "/nds_DE/soup", "app", extra: places),
    MatchingCase(#"{"/":"/$(lang)_$(region)/$(dish)/"}"#, "/en_US/cake/", "none", extra: places),
    MatchingCase(#"{"/":"/$(lang)_$(region)/$(dish)/"}"#, "/qq_ZZ/soup/", "none", extra: places),
    MatchingCase(#"{"/":"/$(lang)_$(region)/$(dish)/"}"#, "/en_US/$(dish)/", "none", extra: places),
    MatchingCase(#"{"/":"/$(region)/x"}"#, "/GB/x", "app"),
    MatchingCase(#"{"/":"/$(region)/x"}"#, "/UK/x", "none"),
    MatchingCase(#"{"/":"/$(kind)/x"}"#, "/abcz/x", "app", extra: places),
    MatchingCase(#"{"/":"/$(kind)/x"}"#, "/bc/x", "app", extra: places),
    MatchingCase(#"{"/":"/$(kind)/x"}"#, "/bcd/x", "none", extra: places),
    MatchingCase(#"{"/":"/$(in)"}"#, "/soup", "none", extra: places),
    MatchingCase(#"{"/":"/$(Dish)"}"#, "/soup", "none", extra: places),
    MatchingCase(#"{"/":"/$(nothing)"}"#, "/x", "none"), MatchingCase(#"{"/":"/$(digit"}"#, "/1", "none"),
    MatchingCase(#"{"/":"/$(digit"}"#, "/$(digit", "none"), MatchingCase(#"{"/":"/$x"}"#, "/$x", "app"),
    MatchingCase(#"{"/":"/$(digit)"}"#, "/7", "app"), MatchingCase(#"{"/":"/$(digit)"}"#, "/x", "none"),
    MatchingCase(#"{"/":"/$(digit)"}"#, "/77", "none"),
    MatchingCase(#"{"/":"/$(digit)$(digit)"}"#, "/77", "app"),
    MatchingCase(#"{"/":"/$(alpha)"}"#, "/q", "app"), MatchingCase(#"{"/":"/$(alpha)"}"#, "/7", "none"),
    MatchingCase(#"{"/":"/$(upper)"}"#, "/Q", "app"), MatchingCase(#"{"/":"/$(upper)"}"#, "/q", "none"),
    MatchingCase(#"{"/":"/$(lower)"}"#, "/q", "app"), MatchingCase(#"{"/":"/$(lower)"}"#, "/Q", "none"),
    MatchingCase(#"{"/":"/$(alnum)"}"#, "/7", "app"), MatchingCase(#"{"/":"/$(alnum)"}"#, "/-", "none"),
    MatchingCase(#"{"/":"/$(xdigit)"}"#, "/f", "app"), MatchingCase(#"{"/":"/$(xdigit)"}"#, "/g", "none"),
    MatchingCase(#"{"/":"/$(upper)","caseSensitive":false}"#, "/q", "app"),
    MatchingCase(#"{"?":{"l":"$(lang)"}}"#, "/?l=sv", "app"),
  ])
  func `Variables match their values`(each: MatchingCase) throws {
    #expect(try each.outcome() == each.expected)
  }

  private static let shop =
    ##"{"#":"stay","exclude":true},{"/":"/buy/*"},{"/":"/help/web/*","exclude":true},"##
    + #"{"/":"/help/*","?":{"article":"????"}}"#

  @Test(arguments: [
    MatchingCase(shop, "/buy/1", "app"), MatchingCase(shop, "/buy/1#stay", "excluded"),
    MatchingCase(shop, "/help/web/a?article=1234", "excluded"),
    MatchingCase(shop, "/help/a?article=1234", "app"),
    MatchingCase(shop, "/help/a?article=123", "none"), MatchingCase(shop, "/help/a?article=12345", "none"),
    MatchingCase(shop, "/help/a", "none"), MatchingCase(shop, "/else", "none"),
    MatchingCase(#"{"/":"/a/*"},{"/":"/a/b/*","exclude":true}"#, "/a/b/c", "app"),
  ])
  func `The first rule that matches decides, also when it excludes`(each: MatchingCase) throws {
    #expect(try each.outcome() == each.expected)
  }

  /// Patterns for which a backtracking matcher would not finish.
  @Test(
    arguments: [
      ("/" + String(repeating: "*a", count: 2_000) + "b", "/" + String(repeating: "a", count: 8_000)),
      (String(repeating: "$(v)", count: 2_000) + "!", "/" + String(repeating: "a", count: 8_000)),
      (String(repeating: "?*", count: 4_000) + "b", "/" + String(repeating: "a", count: 8_000)),
      (String(repeating: "*$(lang)", count: 1_000) + "!", "/" + String(repeating: "en", count: 4_000)),
    ])
  func `No pattern is slow`(pattern: String, url: String) throws {
    let variables = #""substitutionVariables":{"v":["a","aa","a*","*a*"]},"#
    #expect(try MatchingCase("{\"/\":\"\(pattern)\"}", url, "", extra: variables).outcome() == "none")
  }

  @Test func `A file whose patterns exceed the limit has a finding and keeps its other rules`() throws {
    let values = Array(repeating: #""\#(String(repeating: "x", count: 100))""#, count: 500).joined(
      separator: ",")
    let bomb = String(repeating: "$(v)", count: 15_000)
    let text =
      #"{"applinks":{"substitutionVariables":{"v":[\#(values)]},"details":[{"appIDs":["A"],"components":"#
      + #"[{"/":"\#(bomb)"},{"/":"/ok"}]}]}}"#
    let matcher = AssociationMatcher(try AppSiteAssociation.read(Array(text.utf8)).file)
    #expect(matcher.findings.map(\.place) == ["applinks.details[0].components[0]"])
    #expect(matcher.verdict(for: try LinkURL("/x"), app: "A") == .unmatched)
  }
}
