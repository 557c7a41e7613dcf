// The size of the torture suites (those named …Torture). `torture --short` runs their short form; `make
// torture` runs the long one and prints the figures that they report. Thread-safe.

import Glibc

/// The size and the reports of the torture suites.
public enum Torture {
  /// Whether this is `make torture`: TORTURE=1 in the environment.
  public static let isLong = variable("TORTURE") == "1"

  /// The number of cases, kills, days …: fewer in the short form than in `make torture`.
  public static func size(short: Int, long: Int) -> Int { isLong ? long : short }

  /// The seed of a suite. Set TORTURE_SEED to the seed that a failure named to reproduce it.
  public static func seed(_ usual: UInt64) -> UInt64 {
    variable("TORTURE_SEED").flatMap { UInt64($0) } ?? usual
  }

  /// Reports a figure: a line on stdout and, under `make torture`, a row in the table at its end.
  /// - Parameters:
  ///   - suite: what was tested, in a few words; the table groups rows by it.
  ///   - figure: what was counted or measured, with its unit.
  public static func report(_ suite: String, _ figure: String, _ value: some CustomStringConvertible) {
    print("torture: \(suite): \(figure): \(value)")
    guard let path = variable("TORTURE_REPORT") else { return }
    let line = "\(suite)\t\(figure)\t\(value)\n"
    // One write(2) in append mode: lines of several processes do not interleave.
    let file = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(line.utf8)
    _ = unsafe write(file, bytes, bytes.count)
  }

  private static func variable(_ name: String) -> String? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: text)
  }
}
