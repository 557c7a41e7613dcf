// Single keys from a terminal, without the line that a person would otherwise have to end. One thread.

internal import Glibc

/// The terminal of stdin while it gives each key at once and shows none (termios(3)).
///
/// Puts the terminal back when the value is gone; a program that is killed leaves that to `reset(1)`.
public final class RawTerminal {
  private var saved = termios()

  /// - Returns: nil when stdin is no terminal.
  public init?() {
    guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return nil }
    var raw = saved
    // Signals of the keyboard stay: Ctrl-C ends the program as anywhere.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 else { return nil }
  }

  deinit {
    _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
  }

  /// Waits for a key.
  /// - Returns: its first byte; nil when none came in time, and at the end of the input.
  public func key(milliseconds: Int32) -> UInt8? {
    var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, milliseconds) == 1, waiting.revents & Int16(POLLIN) != 0 else {
      return nil
    }
    var byte: UInt8 = 0
    return unsafe read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
  }
}
