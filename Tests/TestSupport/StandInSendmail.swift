// A program in the place of sendmail: it keeps its arguments and the message, and then does what a test says.

/// A shell script in its own folder.
public final class StandInSendmail {
  private let folder: TestFolder

  /// - Parameter end: what the script does after it has kept the message, in sh.
  public init(_ end: String = "exit 0") throws {
    folder = try TestFolder()
    let script = """
      #!/bin/sh
      printf '%s\\n' "$@" > '\(folder.path)/arguments'
      env > '\(folder.path)/variables'
      cat > '\(folder.path)/message.part'
      mv '\(folder.path)/message.part' '\(folder.path)/message'
      \(end)

      """
    try folder.write(script, to: "sendmail", mode: 0o755)
  }

  /// A program that does only this, in sh.
  public init(script: String) throws {
    folder = try TestFolder()
    try folder.write("#!/bin/sh\n\(script)\n", to: "sendmail", mode: 0o755)
  }

  /// The path of the program.
  public var path: String { folder.file("sendmail") }

  /// The last message; nil if there is none yet.
  public var message: String? { folder.has("message") ? folder.content("message") : nil }

  /// The arguments of the last run.
  public var arguments: [String] {
    folder.content("arguments").split(separator: "\n").map(String.init)
  }

  /// The environment of the last run: `NAME=value`.
  public var variables: [String] {
    folder.content("variables").split(separator: "\n").map(String.init)
  }
}
