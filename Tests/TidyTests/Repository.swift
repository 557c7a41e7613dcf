// The files of the repository that this test was compiled from.

import FoundationEssentials

/// A text file of the repository.
struct RepositoryFile: Sendable {
  /// From the repository's top folder: `Sources/Domain/Join.swift`.
  let path: String
  let text: String
  /// The text without comments and literals.
  let code: String
  /// The imported modules with their line numbers.
  let imports: [(line: Int, module: String)]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    let isSwift = path.hasSuffix(".swift")
    code = isSwift ? SwiftCode.code(of: text) : text
    imports = isSwift ? SwiftCode.imports(in: code) : []
  }

  var isSwift: Bool { path.hasSuffix(".swift") }

  /// The folders within a room that a rule is about, each before those that it is in.
  private static let parts = [
    "Support/C", "Support/Cryptography", "Support/Formats/Encoding", "Support/Formats/JSON",
    "Support/Formats",
    "Support/HTTPClient", "Support/HTTPServer", "Support/Platform", "Support/Terminal",
    "Store/Bodies/Compression", "Store/Postgres/Library", "Store/Postgres", "Store/SQLite/Library",
    "Store/SQLite", "Daemon/Intake", "Web/QRCode", "CLI/Database",
  ]

  /// The room of a file under `Sources`, or the part of it that a rule is about; nil for other files.
  var room: String? {
    let folders = path.split(separator: "/")
    guard folders.count > 2, folders[0] == "Sources" else { return nil }
    return Self.parts.first { path.hasPrefix("Sources/\($0)/") } ?? String(folders[1])
  }
}

/// Reads the repository.
enum Repository {
  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  /// The top folder: three levels above this file.
  static let root = String(
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().path)

  /// The files that the rules check: Swift, C and SQL, without fixtures.
  static func files() throws -> [RepositoryFile] { try cached.get() }

  private static let cached = Result { try read() }

  private static func read() throws -> [RepositoryFile] {
    let folders = ["Sources", "Tools", "Tests", "migrations"]
    let paths = try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").map { "\(folder)/\($0)" }
    }
    return try paths.sorted().filter { path in
      [".swift", ".h", ".sql"].contains { path.hasSuffix($0) }
    }.map { RepositoryFile(path: $0, text: try text(of: $0)) }
  }

  /// The texts for people: documents, scripts, deployment files and recorded outputs.
  static func documents() throws -> [RepositoryFile] {
    let folders = [
      "docs", "deploy", "benchmarks", "kit-android", "Tests/CLITests/Snapshots", "Sources/CheckoutKit",
    ]
    let paths = try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").map { "\(folder)/\($0)" }
    }
    let documents = paths.filter { path in
      var isFolder = false
      let exists = FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
      return exists && !isFolder && ![".swift", ".png", ".pyc"].contains { path.hasSuffix($0) }
    }
    let others = [
      "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md",
      "Tests/README.md", "Makefile",
    ]
    return try (documents + others).sorted().map { RepositoryFile(path: $0, text: try text(of: $0)) }
  }

  static func text(of path: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: "\(root)/\(path)") else {
      throw Missing(description: "\(path) is not there")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw Missing(description: "\(path) is not UTF-8 text")
    }
    return text
  }

  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)").sorted()
  }
}
