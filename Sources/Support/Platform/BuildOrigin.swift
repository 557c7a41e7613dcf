// What this program was built from, as deploy/dev/build defined it. Pure; thread-safe.

internal import CLibC

/// The origin of this build.
public enum BuildOrigin {
  /// The version of all programs.
  public static let version = "1.0.0"
  /// The commit and its date, such as `3fbd2d213, 2026-11-27`; nil for a build that does not know them.
  /// The commit is followed by `-dirty` if there were uncommitted changes.
  public static var text: String? {
    let parts = unsafe [String(cString: CLibC_commit()), String(cString: CLibC_date())]
    let known = parts.filter { !$0.isEmpty }
    return known.isEmpty ? nil : known.joined(separator: ", ")
  }
}
