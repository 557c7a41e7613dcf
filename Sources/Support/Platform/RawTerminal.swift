// Reads single keys from a terminal, without waiting for a newline. One thread.

internal import Formats
internal import Glibc

/// The terminal of stdin in a mode that returns each key immediately and echoes none (termios(3)).
///
/// `deinit` restores the terminal; after a kill, the user must run `reset(1)`.
public final class RawTerminal {
  private var saved = termios()

  /// - Returns: nil when stdin is not a terminal.
  public init?() {
    guard unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return nil }
    var raw = saved
    // ISIG stays set, so Ctrl-C still ends the program.
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 else { return nil }
  }

  deinit {
    _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
  }

  /// Waits for a key.
  /// - Returns: its first byte; nil on a timeout, and at the end of the input.
  public func key(within duration: Duration) -> UInt8? {
    var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, Int32(clamping: duration.milliseconds)) == 1,
      waiting.revents & Int16(POLLIN) != 0
    else {
      return nil
    }
    var byte: UInt8 = 0
    return unsafe read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
  }
}
