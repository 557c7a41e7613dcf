// A program in the place of sendmail: it keeps its arguments and the message, and then does what a test says.

internal import FoundationEssentials

/// A shell script in its own folder, which `deinit` removes.
public final class StandInSendmail {
  private let folder: String

  /// - Parameter end: what the script does after it has kept the message, in sh.
  public init(_ end: String = "exit 0") throws {
    folder = FileManager.default.temporaryDirectory.path + "/sendmail-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let script = """
      #!/bin/sh
      printf '%s\\n' "$@" > '\(folder)/arguments'
      env > '\(folder)/variables'
      cat > '\(folder)/message.part'
      mv '\(folder)/message.part' '\(folder)/message'
      \(end)

      """
    try replace(script)
  }

  /// A program that does only this, in sh.
  public init(script: String) throws {
    folder = FileManager.default.temporaryDirectory.path + "/sendmail-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try replace("#!/bin/sh\n\(script)\n")
  }

  // A folder that cannot be removed is left to the system.
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func replace(_ script: String) throws {
    try Data(script.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }

  /// The path of the program.
  public var path: String { "\(folder)/sendmail" }

  /// The last message; nil if there is none yet.
  public var message: String? { content("message") }

  /// The arguments of the last run.
  public var arguments: [String] {
    (content("arguments") ?? "").split(separator: "\n").map(String.init)
  }

  /// The environment of the last run: `NAME=value`.
  public var variables: [String] {
    (content("variables") ?? "").split(separator: "\n").map(String.init)
  }

  private func content(_ name: String) -> String? {
    FileManager.default.contents(atPath: "\(folder)/\(name)").map { String(decoding: $0, as: UTF8.self) }
  }
}
