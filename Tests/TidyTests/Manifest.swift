// Rules about Package.swift and the list of migrations. Pure.

enum Manifest {
  /// The lines that name a Swift package.
  static func packages(in manifest: String) -> [Substring] {
    SwiftCode.code(of: manifest).split(separator: "\n").filter { $0.contains(#/\.package\s*\(/#) }
  }

  /// A library or a program.
  struct Target: Equatable {
    let name: String
    /// Its folder below `Sources`.
    let room: String
    /// The targets that it declares.
    let dependencies: Set<String>
  }

  static func targets(in manifest: String) -> [Target] {
    func names(_ list: Substring?) -> Set<String> {
      Set((list ?? "").matches(of: #/"(\w+)"/#).map { String($0.1) })
    }
    let shared = names(manifest.firstMatch(of: #/let foundations[^=]*=\s*\[([^\]]*)\]/#)?.1)
    let pattern =
      #/(?:library|program)\(\s*"(\w+)"(?:,\s*in: "([\w\/]+)")?(?:,\s*(foundations\s*\+\s*)?\[([^\]]*)\])?/#
    return manifest.matches(of: pattern).map { target in
      Target(
        name: String(target.1), room: String(target.2 ?? target.1),
        dependencies: names(target.4).union(target.3 == nil ? [] : shared))
    }
  }

  /// The targets that a file imports although its own target does not declare them. The compiler also finds
  /// a target that is only a dependency's dependency.
  static func undeclaredImports(of path: String, _ text: String, targets: [Target]) -> [String] {
    let holders = targets.filter { path.hasPrefix("Sources/\($0.room)/") }
    guard let own = holders.max(by: { $0.room.count < $1.room.count }) else { return [] }
    let imports = SwiftCode.code(of: text).matches(of: #/(?m)^(?:@\w+ )?(?:\w+ )?import (\w+)/#)
    return imports.map { String($0.1) }.filter { name in
      targets.contains { $0.name == name } && !own.dependencies.contains(name)
    }
  }

  /// Checks that every migration is compiled in.
  /// - Parameters:
  ///   - files: the paths of the SQL files below `migrations`, in order.
  ///   - manifest: Package.swift, which embeds each.
  ///   - list: Migrations.swift, which lists them oldest first.
  static func migrationFaults(files: [String], manifest: String, list: String) -> [String] {
    var faults: [String] = []
    for file in files where !manifest.contains(".embedInCode(\"\(file)\")") {
      faults.append("\(file) is not embedded by Package.swift")
    }
    let listed = SwiftCode.code(of: list).matches(of: #/PackageResources\.(\w+)/#).map { String($0.1) }
    let expected = files.map { String($0.split(separator: "/").last ?? "").replacing(".", with: "_") }
    if listed != expected { faults.append("Migrations.swift lists \(listed), but should list \(expected)") }
    return faults
  }
}

/// The promises R1 to R11, which tests cite.
enum Promises {
  static let count = 11

  /// The promises that the names of tests and suites in a file cite.
  static func cited(in text: String) -> Set<Int> {
    // A cheap check first, because most files cite none.
    guard text.contains(#/\bR\d/#.wordBoundaryKind(.simple)) else { return [] }
    let names = text.matches(of: #/@(?:Test|Suite)\(\s*"([^"\n]*)"|func\s+`([^`\n]*)`/#)
    return names.reduce(into: []) { cited, name in
      for number in (name.1 ?? name.2 ?? "").matches(of: #/\bR(\d+)\b/#) {
        if let number = Int(number.1) { cited.insert(number) }
      }
    }
  }
}
