// Damages a database file as a failing disk would. The file must be complete: no log beside it.

internal import Glibc
internal import Platform
internal import SQLiteStore

/// Overwrites pages of a database.
public enum DamagedPages {
  /// Overwrites the leaves of a table or an index (https://www.sqlite.org/fileformat2.html#b_tree_pages). The
  /// tree must have at most two levels; of a tree with one level it overwrites the root.
  /// - Parameters:
  ///   - name: the table or the index; the schema table when none has this name.
  ///   - keeping: how many leaves are kept, from the first.
  /// - Returns: how many were overwritten.
  @discardableResult
  public static func overwrite(_ name: String, in path: String, keeping: Int = 0) throws -> Int {
    let (root, size) = try place(of: name, in: path)
    var bytes = try FileReading.content(of: path, bytesMax: 1 << 30).bytes
    func number(_ offset: Int, _ count: Int) -> Int {
      bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
    }
    let start = (root - 1) * size
    // The first page begins with the file header.
    let header = root == 1 ? 100 : start
    // Types 2 and 5 are inner pages: each cell begins with a child's number, and the header has the last
    // child.
    let isInner = bytes[header] == 2 || bytes[header] == 5
    let children = (0..<(isInner ? number(header + 3, 2) : 0)).map { cell in
      number(start + number(header + 12 + 2 * cell, 2), 4)
    }
    let leaves = isInner ? children + [number(header + 8, 4)] : [root]
    for leaf in leaves.dropFirst(keeping) {
      let first = leaf == 1 ? 100 : (leaf - 1) * size
      for place in first..<(leaf * size) { bytes[place] = 0xA5 }
    }
    let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError.last("open") }
    defer { close(file) }
    guard unsafe pwrite(file, bytes, bytes.count, 0) == bytes.count else { throw SystemError.last("pwrite") }
    return leaves.count - keeping
  }

  private static func place(of name: String, in path: String) throws -> (root: Int, size: Int) {
    let connection = try Connection(path: path, mode: .readOnly, busyTimeout: .seconds(1))
    let root = try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'") ?? 1
    return (Int(root), Int(try connection.integer("PRAGMA page_size") ?? 4096))
  }
}
