// Rules about Package.swift and the list of migrations. Pure.

enum Manifest {
  /// The lines that name a Swift package.
  static func packages(in manifest: String) -> [Substring] {
    SwiftCode.code(of: manifest).split(separator: "\n").filter { $0.contains(#/\.package\s*\(/#) }
  }

  /// The libraries and programs, and the targets that each declares.
  static func declared(in manifest: String) -> [String: Set<String>] {
    func names(_ list: Substring?) -> Set<String> {
      Set((list ?? "").matches(of: #/"(\w+)"/#).map { String($0.1) })
    }
    let parts = names(manifest.firstMatch(of: #/let parts[^=]*=\s*\[([^\]]*)\]/#)?.1)
    let targets = manifest.matches(
      of: #/(?:library|program)\(\s*"(\w+)"(?:,\s*(parts\s*\+\s*)?\[([^\]]*)\])?/#)
    return targets.reduce(into: [:]) { found, target in
      found[String(target.1)] = names(target.3).union(target.2 == nil ? [] : parts)
    }
  }

  /// The targets that a file imports although its own target does not declare them. The compiler also finds
  /// a target that is only a dependency's dependency.
  static func undeclaredImports(
    of path: String, _ text: String, declared: [String: Set<String>]
  ) -> [String] {
    let folders = path.split(separator: "/")
    guard folders.first == "Sources", folders.count > 2, let own = declared[String(folders[1])] else {
      return []
    }
    let imports = SwiftCode.code(of: text).matches(of: #/(?m)^(?:@\w+ )?(?:\w+ )?import (\w+)/#)
    return imports.map { String($0.1) }.filter { declared[$0] != nil && !own.contains($0) }
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
