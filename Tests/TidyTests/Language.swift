// The words that texts and names avoid, with the words to write instead. Each avoided word is rare, has two
// meanings, or replaces a term that every engineer knows. Pure.

/// Words in a row that a text or a name avoids.
struct AvoidedWords: Sendable {
  /// In lower case.
  let words: [String]
  let instead: String
  /// Whether they are avoided only at the end of a clause: "of its own." but not "of its own app".
  var endsClause = false

  init(_ words: String, instead: String, endsClause: Bool = false) {
    self.words = words.split(separator: " ").map(String.init)
    self.instead = instead
    self.endsClause = endsClause
  }
}

enum Language {
  /// For comments, literals and documents.
  static let inTexts: [AvoidedWords] =
    [
      AvoidedWords("anew", instead: "again"),
      AvoidedWords("as often as not", instead: "a number"), AvoidedWords("so many", instead: "a number"),
      AvoidedWords("none of ours", instead: "not ours"), AvoidedWords("one of ours", instead: "ours"),
      AvoidedWords("by itself", instead: "automatically, separately"),
      AvoidedWords("by themselves", instead: "automatically, separately"),
      AvoidedWords("of its own", instead: "separate, its own", endsClause: true),
      AvoidedWords("of their own", instead: "separate, their own", endsClause: true),
      AvoidedWords("what was told", instead: "alerts still firing"),
      AvoidedWords("tells", instead: "reports, logs, notifies"),
      AvoidedWords("a hand", instead: "the operator"), AvoidedWords("stranger", instead: "the caller"),
      AvoidedWords("strangers", instead: "callers"), AvoidedWords("whoever", instead: "the caller who"),
      AvoidedWords("a person", instead: "the user"), AvoidedWords("the person", instead: "the user"),
      AvoidedWords("put off", instead: "rescheduled"), AvoidedWords("puts off", instead: "reschedules"),
      AvoidedWords("putting off", instead: "rescheduling"),
      AvoidedWords("outside text", instead: "untrusted input, external identifier"),
      AvoidedWords("the outside", instead: "untrusted input, the client"),
      AvoidedWords("book", instead: "ledger, cache"), AvoidedWords("books", instead: "ledger, cache"),
      AvoidedWords("noun", instead: "command group"),
    ] + ["mend", "mends", "mended", "mending"].map { AvoidedWords($0, instead: "fix") }
    + ["is", "are", "was", "were", "be", "been", "being"].map {
      AvoidedWords("\($0) told", instead: "reports, logs, notifies")
    }
    + ["the", "its", "many", "more", "no", "of", "all", "spent"].map {
      AvoidedWords("\($0) tries", instead: "attempts")
    }
    + ["the", "a", "an", "no", "its", "this", "every"].flatMap { article in
      ["stand", "stands"].map { AvoidedWords("\($0) in \(article)", instead: "is in") }
    } + inBoth

  /// For the names of types, properties and functions, which are read word by word: `goRound` is "go round".
  static let inNames: [AvoidedWords] =
    [
      AvoidedWords("go round", instead: "step"), AvoidedWords("put off", instead: "reschedule"),
      AvoidedWords("anew", instead: "again"), AvoidedWords("mended", instead: "fixed"),
      AvoidedWords("checkout board", instead: "long polls"),
      AvoidedWords("outside text", instead: "external identifier"),
      AvoidedWords("noun spec", instead: "command group"), AvoidedWords("nouns", instead: "command groups"),
      AvoidedWords("books", instead: "ledger, caches"),
    ] + inBoth

  private static let inBoth: [AvoidedWords] =
    ["enquire", "enquirer", "enquiry", "enquiries"].map { AvoidedWords($0, instead: "lookup") }
    + ["distrust", "distrusts", "distrusted"].map { AvoidedWords($0, instead: "invalidate") }
    + ["audience", "audiences"].map { AvoidedWords($0, instead: "commit observers") }
    + ["carrier", "carriers"].map { AvoidedWords($0, instead: "HTTP transport") }
    + ["edition", "editions"].map { AvoidedWords($0, instead: "generation") }
    + [AvoidedWords("surroundings", instead: "dependencies")]

  /// Where a word is the right one, by the beginning of the path.
  /// - why: a reason that a reader can check.
  static let exceptions: [(word: String, why: String, paths: [String])] = [
    (
      "audience", "the claim `aud` of a token (RFC 7519 §4.1.3)",
      [
        "Sources/Support/Cryptography/JSONWebToken/", "Sources/Config/", "Sources/Daemon/Service/Findings/",
        "Tests/CryptographyTests/JSONWebToken/",
        "Tests/DaemonTests/Clients/", "Tests/DaemonTests/ConfigurationSchemaTests.swift",
        "Tests/EndToEndTests/AppTests.swift", "Tests/EndToEndTests/CheckoutSessionTests.swift",
        "Tests/EndToEndTests/DaemonTokenTests.swift", "Tests/FuzzTests/Targets/FuzzTarget+Token.swift",
        "Tests/ReliabilityTests/Simulation/SimulatedIdentityProvider.swift", "docs/client-access.md",
        "docs/configuration.md", "deploy/man/receiptd.json5.5",
      ]
    ),
    (
      "audience", "the name in Purchasely's Console of a group of customers",
      ["docs/ios-app-store.md", "docs/evidence/capabilities.md"]
    ),
  ]

  /// The tests of this rule have the words in their samples.
  static let exempt = ["Tests/TidyTests/"]

  /// The avoided words of a file, with line numbers.
  static func findings(in file: RepositoryFile) -> [(line: Int, avoided: AvoidedWords)] {
    guard !exempt.contains(where: file.path.hasPrefix) else { return [] }
    var texts = Array(file.text.utf8)
    var found: [(line: Int, avoided: AvoidedWords)] = []
    if file.isSwift {
      let code = Array(file.code.utf8)
      found += TextWord.names(in: code).flatMap { TextWord.avoided(in: $0, byName) }
      // Comments and literals are where the code is blank.
      for index in texts.indices where texts[index] == code[index] && texts[index] != UInt8(ascii: "\n") {
        texts[index] = UInt8(ascii: " ")
      }
    }
    found += TextWord.avoided(in: TextWord.all(in: texts), byText)
    return found.filter { _, avoided in
      !exceptions.contains { word, _, paths in
        avoided.words[0].hasPrefix(word) && paths.contains(where: file.path.hasPrefix)
      }
    }.sorted { $0.line < $1.line }
  }

  private static let byText = Dictionary(grouping: inTexts) { $0.words[0] }
  private static let byName = Dictionary(grouping: inNames) { $0.words[0] }
}

/// A word of a text, or a part of a name.
struct TextWord: Equatable {
  /// In lower case.
  let word: String
  /// Counted from 1.
  let line: Int
  /// Whether punctuation follows.
  var endsClause = false

  /// The words of a text; digits, underscores and hyphens inside belong to them.
  static func all(in bytes: [UInt8]) -> [TextWord] {
    var words: [TextWord] = []
    var line = 1
    var start: Int?
    for index in 0...bytes.count {
      let byte = index < bytes.count ? bytes[index] : UInt8(ascii: " ")
      let joins =
        byte == UInt8(ascii: "-") && start != nil && index + 1 < bytes.count && isWord(bytes[index + 1])
      if isWord(byte) || joins {
        if start == nil { start = index }
      } else if let begin = start {
        words.append(
          TextWord(
            word: String(decoding: bytes[begin..<index], as: UTF8.self).lowercased(), line: line,
            endsClause: punctuation.contains(byte)))
        start = nil
      }
      if byte == UInt8(ascii: "\n") { line += 1 }
    }
    return words
  }

  /// The parts of each name in Swift code: `goRound` has two.
  static func names(in code: [UInt8]) -> [[TextWord]] {
    var names: [[TextWord]] = []
    var parts: [TextWord] = []
    var line = 1
    var part: [UInt8] = []
    func end() {
      if !part.isEmpty { parts.append(TextWord(word: String(decoding: part, as: UTF8.self), line: line)) }
      part = []
    }
    for byte in code {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      if isUpper || !isWord(byte) { end() }
      if isWord(byte) {
        part.append(isUpper ? byte | 0x20 : byte)
      } else if !parts.isEmpty {
        names.append(parts)
        parts = []
      }
      if byte == UInt8(ascii: "\n") { line += 1 }
    }
    end()
    return parts.isEmpty ? names : names + [parts]
  }

  /// - Parameter avoided: by their first word.
  static func avoided(
    in words: [TextWord], _ avoided: [String: [AvoidedWords]]
  ) -> [(line: Int, avoided: AvoidedWords)] {
    var found: [(line: Int, avoided: AvoidedWords)] = []
    for index in words.indices {
      for candidate in avoided[words[index].word] ?? [] {
        let row = words[index...].prefix(candidate.words.count)
        guard row.elementsEqual(candidate.words, by: { $0.word == $1 }),
          !candidate.endsClause || row.last?.endsClause == true
        else { continue }
        found.append((words[index].line, candidate))
      }
    }
    return found
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte >= 0x80
  }

  private static let punctuation = Set(".,;:)\"`".utf8)
}

extension Rule {
  static let language = Rule(name: "texts and names use the field's words") { file in
    Language.findings(in: file).map { line, avoided in
      Finding(
        path: file.path, line: line,
        message: "\"\(avoided.words.joined(separator: " "))\"; write: \(avoided.instead)")
    }
  }
}
