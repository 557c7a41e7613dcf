// Completion scripts for common shells, generated from the table. Pure; any thread.

/// Scripts that add a program's completions to a shell.
public enum Completions {
  /// The supported shells.
  public enum Shell: String, Sendable, CaseIterable {
    case bash, zsh, fish
  }

  /// The script for one shell.
  public static func script(of program: ProgramSpec, for shell: Shell) -> String {
    let table = CompletionTable(program)
    return switch shell {
    case .bash: bash(table)
    case .zsh: zsh(table)
    case .fish: fish(table)
    }
  }

  /// A text in single quotes, as POSIX shells and fish read it.
  static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "'\\''") + "'"
  }
}
