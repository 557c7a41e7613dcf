// Files that record what the programs print, so that every change of the output is reviewed.

internal import FoundationEssentials
internal import Platform

/// Compares outputs with recorded files.
public enum RecordedFile {
  /// Compares a text with its file. With RECORD_SNAPSHOTS set, writes the file instead.
  /// - Parameter path: relative to the caller's folder.
  /// - Returns: how they differ; nil if they are equal.
  public static func fault(_ text: String, _ path: String, beside caller: String = #filePath) -> String? {
    let path = URL(filePath: caller).deletingLastPathComponent().appending(path: path).path
    if Environment.process["RECORD_SNAPSHOTS"] != nil {
      let isWritten = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
      return isWritten ? nil : "\(path) cannot be written"
    }
    guard let kept = FileManager.default.contents(atPath: path) else { return "\(path) is missing" }
    if String(decoding: kept, as: UTF8.self) == text { return nil }
    return "\(path) differs from what is printed now; look at it, then run with RECORD_SNAPSHOTS=1:\n\(text)"
  }
}
