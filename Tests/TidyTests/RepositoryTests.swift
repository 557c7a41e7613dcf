// Applies the rules to the whole repository.

import Testing

@Suite struct RepositoryTests {
  @Test(arguments: Rule.all)
  func `The rules hold for every file`(_ rule: Rule) throws {
    let files = try Repository.files()
    #expect(files.count > 50, "the repository was not found at \(Repository.root)")
    for finding in files.flatMap(rule.check) { Issue.record("\(finding)") }
  }

  @Test func `Documents, scripts and recorded outputs use the field's words`() throws {
    let documents = try Repository.documents()
    #expect(documents.count > 50, "the documents were not found at \(Repository.root)")
    for finding in documents.flatMap(Rule.language.check) { Issue.record("\(finding)") }
  }

  @Test(arguments: ["Sources", "Tests"])
  func `A file can be named without its folder`(_ folder: String) throws {
    let paths = try Repository.files().filter(\.isSwift).map(\.path).filter { $0.hasPrefix("\(folder)/") }
    #expect(paths.count > 50)
    for fault in FileNames.faults(in: paths) { Issue.record("\(fault)") }
  }

  @Test func `The project uses no Swift packages`() throws {
    let manifest = try Repository.text(of: "Package.swift")
    #expect(Manifest.packages(in: manifest).isEmpty)
  }

  @Test func `Each target declares the targets that it imports`() throws {
    let targets = Manifest.targets(in: try Repository.text(of: "Package.swift"))
    #expect(targets.count >= 20)
    for file in try Repository.files() where file.isSwift {
      for target in Manifest.undeclaredImports(of: file.path, file.text, targets: targets) {
        Issue.record("\(file.path) imports \(target), which its target does not declare in Package.swift")
      }
    }
  }

  @Test func `Every migration is compiled in, in order`() throws {
    let files = try ["sqlite", "postgres"].flatMap { engine in
      let names = try Repository.names(in: "migrations/\(engine)").filter { $0.hasSuffix(".sql") }
      #expect(!names.isEmpty)
      return names.map { "\(engine)/\($0)" }
    }
    let faults = Manifest.migrationFaults(
      files: files, manifest: try Repository.text(of: "Package.swift"),
      list: try Repository.text(of: "migrations/Migrations.swift"))
    for fault in faults { Issue.record("\(fault)") }
  }

  @Test(arguments: 1...Promises.count)
  func `Every promise is cited by the name of a test`(_ number: Int) throws {
    #expect(
      try Self.cited.get().contains(number), "name a test after R\(number): @Test func `… (R\(number))`()")
  }

  /// The promises that the tests cite, without this suite's, whose samples may cite anything.
  private static let cited = Result {
    try tests().reduce(into: Set<Int>()) { $0.formUnion(Promises.cited(in: $1.text)) }
  }

  private static func tests() throws -> [RepositoryFile] {
    try Repository.files().filter {
      $0.path.hasPrefix("Tests/") && !$0.path.hasPrefix("Tests/TidyTests/") && $0.isSwift
    }
  }

  @Test(arguments: [("link-checks", 72), ("payment-checks", 76)])
  func `Every check of the links and of the payments is cited by a test`(_ page: String, count: Int) throws {
    let checks = try Repository.text(of: "docs/\(page).md")
      .matches(of: #/\b(?:SC|SH|DL|PL|SW|CB|CA)\d\d\b/#).map { String($0.output) }
    #expect(Set(checks).count == count)
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let cited = try Self.tests().reduce(into: Set<String>()) { cited, file in
      let words = file.text.utf8.split { !capitals.contains($0) && !digits.contains($0) }
      cited.formUnion(words.filter { $0.count == 4 }.map { String(Substring($0)) })
    }
    for check in Set(checks) { #expect(cited.contains(check), "no test cites \(check)") }
  }
}
