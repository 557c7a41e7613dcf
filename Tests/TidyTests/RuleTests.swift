// Every rule finds its violations, and accepts good code.

import Testing

@Suite struct RuleTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let rule: Rule
    let path: String
    let text: String
    /// The lines with violations; 0 means the whole file.
    let lines: [Int]

    var testDescription: String { "\(rule.name): \(path) \(text.prefix(40).replacing("\n", with: " "))" }
  }

  static let bad: [Sample] = [
    Sample(
      rule: .expectations, path: "Tests/A/A.swift",
      text: "#expect(a && b)\ntry #require(\n  c(d)\n    && e, \"f\")\nif g && h { #expect(i) }",
      lines: [1, 2]),
    Sample(rule: .limits, path: "Tests/A/A.swift", text: "\n@Test(.timeLimit(.minutes(1)))", lines: [2]),
    Sample(rule: .fileLength, path: "Sources/A/A.swift", text: longFile(501), lines: [0]),
    Sample(rule: .fileLength, path: "migrations/v1.sql", text: longFile(501), lines: [0]),
    Sample(rule: .functionLength, path: "Tests/A/A.swift", text: "\n" + longFunction(71), lines: [2]),
    Sample(
      rule: .functionLength, path: "Sources/A/A.swift", text: "struct A {\ninit() {\n\(longFile(70))}\n}",
      lines: [2]),
    Sample(rule: .width, path: "Sources/A/A.swift", text: "\n\(wide(111))\n\(wide(110))", lines: [2]),
    Sample(rule: .width, path: "migrations/v1.sql", text: wide(111), lines: [1]),
    Sample(rule: .importsOfC, path: "Sources/Store/A.swift", text: "internal import CSQLite", lines: [1]),
    Sample(
      rule: .importsOfC, path: "Sources/Support/HTTPClient/A.swift", text: "import CMicroHTTPD", lines: [1]),
    Sample(
      rule: .importsOfC, path: "Tests/StoreTests/A.swift", text: "\n@testable import CSQLite", lines: [2]),
    Sample(
      rule: .importsOfC, path: "migrations/A.swift", text: "import struct CCrypto.evp_md_st", lines: [1]),
    Sample(rule: .engine, path: "Sources/Daemon/A.swift", text: "internal import SQLiteStore", lines: [1]),
    Sample(rule: .engine, path: "Sources/Daemon/A.swift", text: "internal import PostgresStore", lines: [1]),
    Sample(rule: .engine, path: "Sources/CLI/A.swift", text: "\nimport SQLiteStore", lines: [2]),
    Sample(rule: .engine, path: "Tests/DomainTests/A.swift", text: "import SQLiteStore", lines: [1]),
    Sample(
      rule: .engine, path: "Tests/StoreTests/Conformance/A.swift",
      text: "@testable import SQLiteStore\nlet a = SQLiteEngine()", lines: [1, 1, 2]),
    Sample(
      rule: .engine, path: "Sources/Store/Rows/A.swift",
      text: "// SQLite\nfunc a() throws(SQLiteError) {}", lines: [2]),
    Sample(rule: .importsOfGlibc, path: "Sources/Daemon/A.swift", text: "private import Glibc", lines: [1]),
    Sample(
      rule: .importsOfGlibc, path: "Sources/Domain/Deep/A.swift", text: "import Glibc", lines: [1]),
    Sample(rule: .unsafety, path: "Sources/Store/A.swift", text: "let a = unsafe b", lines: [1]),
    Sample(rule: .unsafety, path: "Sources/receiptd/A.swift", text: "print(\"\\(unsafe b)\")", lines: [1]),
    Sample(rule: .domain, path: "Sources/Domain/A.swift", text: "// a\npublic import Platform", lines: [2]),
    Sample(
      rule: .domain, path: "Sources/Domain/A.swift", text: "import Formats\nimport Platform", lines: [2]),
    Sample(rule: .vendors, path: "Sources/Store/A.swift", text: "a\n// Stripe's", lines: [2]),
    Sample(rule: .vendors, path: "Sources/Domain/B/A.swift", text: "let a = \"stripe\"", lines: [1]),
    Sample(
      rule: .vendors, path: "Sources/Daemon/Upkeep/A.swift", text: "a\n\"Correct purchasely.url\"", lines: [2]
    ),
    Sample(
      rule: .foundation, path: "Sources/Support/Formats/JSON/A.swift",
      text: "@preconcurrency import Foundation", lines: [1]),
    Sample(rule: .foundation, path: "migrations/A.swift", text: "import struct Foundation.Date", lines: [1]),
    Sample(
      rule: .kit, path: "Sources/CheckoutKit/A.swift", text: "import Foundation\ninternal import JSON",
      lines: [2]),
    Sample(rule: .kit, path: "Sources/CheckoutKit/Links/A.swift", text: "import SwiftUI", lines: [1]),
    Sample(rule: .kit, path: "Sources/Daemon/A.swift", text: "internal import CheckoutKit", lines: [1]),
    Sample(
      rule: .spans, path: "Sources/A/A.swift",
      text:
        "let waitMilliseconds: Int64\nfunc a(timeoutMillisecondsMax: [Int])\nfunc bMilliseconds() -> Int64",
      lines: [1, 2, 3]),
    Sample(rule: .unfinished, path: "Sources/A/A.swift", text: "\n// TO" + "DO: more", lines: [2]),
    Sample(rule: .unfinished, path: "Sources/A/shim.h", text: "/* FIX" + "ME */", lines: [1]),
    Sample(
      rule: .forcing, path: "Sources/A/A.swift", text: "let a = try! b()\nlet c = d as! E", lines: [1, 2]),
    Sample(rule: .forcing, path: "Tests/A/A.swift", text: "#expect(\"\\(try! b(\"c\"))\" == d)", lines: [1]),
    Sample(
      rule: .spawning, path: "Tests/A/A.swift", text: "let a = Process()\nposix_spawnp(a)", lines: [1, 2]),
    Sample(
      rule: .encoding, path: "Tests/A/A.swift",
      text: "a.base64EncodedString()\nData(base64Encoded: b)\nc.removingPercentEncoding", lines: [1, 2, 3]),
    Sample(
      rule: .encoding, path: "Sources/A/A.swift",
      text: "let a = b.addingPercentEncoding(withAllowedCharacters: c)\nUInt8(ascii: \"%\")", lines: [1, 2]),
    Sample(
      rule: .locking, path: "Sources/A/A.swift", text: "let a = Mutex(0)\nlet b: Mutex<Int>", lines: [1, 2]),
    Sample(
      rule: .language, path: "Sources/A/A.swift",
      text: "// It is tried anew, by\n// itself.\nlet a = \"the operator is told\"\nfunc wasMended() {}",
      lines: [1, 1, 3, 4]),
    Sample(
      rule: .language, path: "Sources/A/A.swift",
      text: "let isMended = 1\nlet b = \"\\(carriers) of its own\"\n/// A thread of its own.",
      lines: [1, 2, 2, 3]),
    Sample(
      rule: .language, path: "docs/a.md", text: "Mended?\nNone of ours stands in the\nlog", lines: [1, 2, 2]),
    Sample(rule: .language, path: "migrations/v9.sql", text: "-- Tries of it\n-- the tries", lines: [2]),
    Sample(rule: .language, path: "Tests/CLITests/Snapshots/a.txt", text: "Whoever asks", lines: [1]),
  ]

  static let good: [Sample] = [
    Sample(
      rule: .expectations, path: "Tests/A/A.swift",
      text: "#expect(a.contains { $0 && b })\n#expect(!(c && d), \"\\(e && f)\")\n// #expect(g && h)",
      lines: []),
    Sample(rule: .limits, path: "Tests/A/A.swift", text: "open(timeLimit: .seconds(9))", lines: []),
    Sample(rule: .fileLength, path: "Sources/A/A.swift", text: longFile(500), lines: []),
    Sample(rule: .functionLength, path: "Sources/A/A.swift", text: longFunction(70), lines: []),
    Sample(rule: .vendors, path: "Sources/Partners/A.swift", text: "// Stripe's", lines: []),
    Sample(
      rule: .vendors, path: "Sources/Daemon/Intake/A.swift", text: "stripe_price_id, Purchasely SDK",
      lines: []),
    Sample(
      rule: .functionLength, path: "Sources/A/A.swift",
      text: "protocol A {\n  func b() -> C\n  init(d: E)\n}\nstruct F {\n\(longFile(80))}", lines: []),
    Sample(
      rule: .functionLength, path: "Sources/A/A.swift",
      text: "func a() { b = .init() }\nlet c = [\n\(longFile(80))]\nlet d = \"func e() {\"\n\(longFile(80))",
      lines: []),
    Sample(
      rule: .width, path: "Sources/A/A.swift", text: "// " + String(repeating: "…", count: 107), lines: []),
    Sample(
      rule: .importsOfC, path: "Sources/Store/SQLite/Library/A.swift", text: "internal import CSQLite",
      lines: []),
    Sample(
      rule: .importsOfC, path: "Sources/Store/A.swift", text: "// import CSQLite\nimport SQLiteStore",
      lines: []),
    Sample(rule: .importsOfC, path: "Tests/SimulatedDisk/A.swift", text: "import CSQLite", lines: []),
    Sample(
      rule: .engine, path: "Sources/Store/SQLite/A.swift", text: "SQLiteError()",
      lines: []),
    Sample(
      rule: .engine, path: "Sources/Daemon/Engines.swift", text: "internal import SQLiteStore",
      lines: []),
    Sample(
      rule: .engine, path: "Tests/StoreTests/SQLite/A.swift", text: "import SQLiteStore",
      lines: []),
    Sample(
      rule: .importsOfGlibc, path: "Sources/Support/Platform/A.swift", text: "internal import Glibc",
      lines: []),
    Sample(rule: .importsOfGlibc, path: "Sources/receiptctl/A.swift", text: "import Glibc", lines: []),
    Sample(rule: .importsOfGlibc, path: "Tests/A/A.swift", text: "import Glibc", lines: []),
    Sample(rule: .unsafety, path: "Sources/Support/HTTPServer/A.swift", text: "let a = unsafe b", lines: []),
    Sample(rule: .unsafety, path: "Sources/Store/A.swift", text: "// unsafe\nlet a = \"unsafe\"", lines: []),
    Sample(
      rule: .domain, path: "Sources/Domain/A.swift", text: "/* import B */ let a = \"\\nimport C\"", lines: []
    ),
    Sample(
      rule: .foundation, path: "Sources/Support/Formats/JSON/A.swift", text: "import FoundationEssentials",
      lines: []),
    Sample(rule: .foundation, path: "Tests/A/A.swift", text: "import Foundation", lines: []),
    Sample(
      rule: .foundation, path: "Sources/CheckoutKit/A.swift", text: "public import Foundation", lines: []),
    Sample(
      rule: .kit, path: "Sources/CheckoutKit/Links/A.swift",
      text: "public import Foundation\ninternal import FoundationNetworking", lines: []),
    Sample(rule: .kit, path: "Sources/CheckoutKit/SwiftUI/A.swift", text: "public import SwiftUI", lines: []),
    Sample(rule: .kit, path: "Tests/A/A.swift", text: "import CheckoutKit", lines: []),
    Sample(
      rule: .spans, path: "Sources/A/A.swift",
      text: "let unixMilliseconds: Int64\nlet wait: Duration // waitMilliseconds: Int64", lines: []),
    Sample(rule: .unfinished, path: "Sources/A/A.swift", text: "// a todo list", lines: []),
    Sample(
      rule: .forcing, path: "Sources/A/A.swift",
      text: "// try!\nlet a = #\"as! \"b\" try!\"#\nlet c = try? d()",
      lines: []),
    Sample(
      rule: .spawning, path: "Tests/A/A.swift",
      text: "// Process()\nfunc otherProcess() {}\nChildProcess()", lines: []),
    Sample(rule: .spawning, path: "Tests/TestSupport/Spawn.swift", text: "posix_spawnp(a)", lines: []),
    Sample(
      rule: .encoding, path: "Tests/A/A.swift",
      text: "Base64.encode(a)\nPercentEncoding.decode(b)\nUInt8(ascii: \"%\")", lines: []),
    Sample(
      rule: .encoding, path: "Sources/CheckoutKit/A.swift", text: "a.base64EncodedString()", lines: []),
    Sample(rule: .locking, path: "Sources/A/A.swift", text: "pthread_mutex_lock(a)  // Mutex", lines: []),
    Sample(
      rule: .language, path: "Sources/A/A.swift",
      text: "// It tries again, by its own app's rules; the amended text, told_at and a bookmark stay.\n"
        + "let amended = \"of its own app\"", lines: []),
    Sample(
      rule: .language, path: "Sources/Support/Cryptography/JSONWebToken/A.swift",
      text: "// the audience\nlet audiences = 1",
      lines: []),
  ]

  @Test("A rule finds exactly the lines that break it", arguments: bad + good)
  func findsExactly(_ sample: Sample) {
    let found = sample.rule.check(RepositoryFile(path: sample.path, text: sample.text))
    #expect(found.map { $0.line ?? 0 } == sample.lines)
    #expect(found.allSatisfy { $0.path == sample.path })
  }

  @Test func `Every rule is known to fail`() {
    #expect(Set(Self.bad.map(\.rule.name)) == Set(Rule.all.map(\.name)))
  }

  private static func longFile(_ lines: Int) -> String { String(repeating: "1\n", count: lines) }

  /// A function with this many lines, including the first and the last.
  private static func longFunction(_ lines: Int) -> String {
    "func a(b: () -> Void = {}) -> [C] where D: E {\n\(longFile(lines - 2))}\n"
  }

  private static func wide(_ columns: Int) -> String { String(repeating: "x", count: columns) }
}

@Suite struct SwiftCodeTests {
  static let pairs = [
    ("a // b\nc", "a     \nc"),
    ("a /* b /* c */ d */ e", "a                   e"),
    (#"a("b \" c") + d"#, #"a(        ) + d"#),
    (#"a("b \(c("d")) e") f"#, #"a(     c(   )    ) f"#),
    ("a #\"b \\(c) \"d\\#(e)\"# f", "a               e    f"),
    ("\"\"\"\nb \"c\" // d\n\"\"\" e", "   \n          \n    e"),
    ("func `a \"b\" // (c`() { d }", "func `           `() { d }"),
    ("static func `init`() { d }", "static func `init`() { d }"),
    ("a /* open", "a        "),
    ("a \"open", "a      "),
  ]

  @Test("Only code is left, at its position", arguments: pairs)
  func leavesCode(_ text: String, _ code: String) { #expect(SwiftCode.code(of: text) == code) }
}

@Suite struct FileNamesTests {
  @Test func `Two files with one name are found, in any folders`() throws {
    #expect(FileNames.faults(in: ["A/B/C.swift", "A/C+D.swift", "A/E.swift"]).isEmpty)
    let faults = FileNames.faults(in: ["A/C.swift", "A/B/C.swift", "A/D.swift"])
    try #require(faults.count == 1)
    #expect(faults[0].hasPrefix("A/B/C.swift and A/C.swift "))
  }
}

@Suite struct ManifestTests {
  @Test func `A Swift package is found, and a comment about one is not`() {
    #expect(Manifest.packages(in: "a\n  .package(url: \"b\"),\n").count == 1)
    #expect(Manifest.packages(in: "// no .package(url:)\n.systemLibrary(name: \"a\")").isEmpty)
  }

  @Test func `An import that a target does not declare is found`() {
    let manifest = """
      let foundations: [Target.Dependency] = ["A"]
      library("A", in: "R"), library("B", in: "R/S", foundations + ["C"]), program("C", ["A"]),
      """
    let targets = Manifest.targets(in: manifest)
    #expect(targets.map(\.room) == ["R", "R/S", "C"])
    #expect(targets.map(\.dependencies) == [[], ["A", "C"], ["A"]])
    func found(_ path: String) -> [String] {
      let text = "import A\n@testable import B\npublic import C\nimport Glibc\n// import A"
      return Manifest.undeclaredImports(of: path, text, targets: targets)
    }
    #expect(found("Sources/R/S/Folder/X.swift") == ["B"])
    #expect(found("Sources/C/X.swift") == ["B", "C"])
    #expect(found("Tests/C/X.swift").isEmpty)
  }

  @Test func `A migration that is left out is found`() {
    let files = ["v0001_a.sql", "v0002_b.sql"]
    let manifest = ".embedInCode(\"v0001_a.sql\"), .embedInCode(\"v0002_b.sql\")"
    let list = "[text(PackageResources.v0001_a_sql), text(PackageResources.v0002_b_sql)]"
    func faults(_ manifest: String, _ list: String) -> Int {
      Manifest.migrationFaults(files: files, manifest: manifest, list: list).count
    }
    #expect(faults(manifest, list) == 0)
    #expect(faults(".embedInCode(\"v0001_a.sql\")", list) == 1)
    #expect(faults(manifest, "[text(PackageResources.v0001_a_sql)]") == 1)
    #expect(faults(manifest, "[text(PackageResources.v0002_b_sql), text(PackageResources.v0001_a_sql)]") == 1)
    #expect(faults("", "") == 3)
  }

  @Test func `Only names of tests and suites cite a promise`() {
    let text = """
      // R1
      @Test("It holds (R2, R11)") func a() { print("R3") }
      @Suite("R4: b") struct C {}
      @Test(
        "It goes on (R5)", arguments: [1])
      @Test func `it lasts (R6)`() {}
      @Test("WR7 R8x")
      """
    #expect(Promises.cited(in: text) == [2, 4, 5, 6, 11])
  }
}
