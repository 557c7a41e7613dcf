// A file that a configuration names.

import FoundationEssentials

/// Owns its file.
final class TemporaryFile {
  let path: String

  init(_ content: String) throws {
    path = FileManager.default.temporaryDirectory.path + "/configuration-" + UUID().uuidString
    try Data(content.utf8).write(to: URL(filePath: path))
  }

  /// If the removal fails, the system clears the folder.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
