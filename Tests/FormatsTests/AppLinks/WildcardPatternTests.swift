// Compares patterns with a slow reference matcher, on texts around the boundaries of 64-bit words.

import Platform
import Testing

@testable import Formats

struct WildcardPatternTests {
  /// The reference matcher: tries every possibility.
  private static func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case "*":
      return (0...text.count).contains { matches(rest, text.dropFirst($0)) }
    case "$":
      return ["ab", "b", ""].contains { text.starts(with: $0) && matches(rest, text.dropFirst($0.count)) }
    default: return !text.isEmpty && (first == "?" || first == text.first) && matches(rest, text.dropFirst())
    }
  }

  @Test func `A pattern matches like an exhaustive search`() throws {
    var random = SeededGenerator(seed: 7)
    var found = 0
    for _ in 0..<4_000 {
      let pattern = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        "ab?*$".randomElement(using: &random) ?? "a"
      }
      let text = (0..<Int.random(in: 0...7, using: &random)).map { _ in
        "ab".randomElement(using: &random) ?? "a"
      }
      // Repeated after a prefix, so that the set of positions spans several words.
      let ahead = [0, 56, 60, 63, 64, 65, 127, 128, 190].randomElement(using: &random) ?? 0
      let prefix = String(repeating: "x", count: ahead)
      var compiler = PatternCompiler(custom: ["v": ["ab", "b", ""]])
      let written = prefix + pattern.map { $0 == "$" ? "$(v)" : String($0) }.joined()
      let compiled = try compiler.pattern(written, foldsCase: false)
      let answer = compiled.matches(
        PatternText(prefix + String(text), foldsCase: false), variables: compiler.variables)
      let expected = Self.matches(pattern[...], text[...])
      #expect(answer == expected, "\(written) \(prefix + String(text))")
      found += expected ? 1 : 0
    }
    #expect((400..<3_600).contains(found))
  }
}
