// File names must be unique, so that a file can be named without its folder. Pure.

enum FileNames {
  /// Reports the paths of files that share a name.
  static func faults(in paths: [String]) -> [String] {
    let byName = Dictionary(grouping: paths) { path in path.split(separator: "/").last ?? "" }
    return byName.values.filter { $0.count > 1 }.map { paths in
      "\(paths.sorted().joined(separator: " and ")) have one name; rename one after what differs"
    }.sorted()
  }
}
