// One line of the doctor's page. A value. It names no user and no secret (R7).

internal import Formats
internal import Terminal

/// What one check found.
struct DoctorFinding: Equatable {
  /// How bad it is.
  enum Level: String, CaseIterable {
    case ok
    /// Nothing is lost yet.
    case warning
    /// Something does not work, or soon will not.
    case failure
  }

  let level: Level
  /// The name of the check.
  let check: String
  /// What it found, without a full stop. May contain text of a server.
  let what: String
  /// What to do, with a command; nil if there is nothing to do.
  let next: String?

  init(_ level: Level, _ check: String, _ what: String, next: String? = nil) {
    (self.level, self.check, self.what, self.next) = (level, check, what, next)
  }

  var json: JSONValue {
    [
      "check": .string(check), "level": .string(level.rawValue), "what": .string(what),
      "next": .optional(next),
    ]
  }

  /// The finding as text: a line, and below it what to do.
  func lines(inColour: Bool) -> [String] {
    let (word, style): (String, Style) =
      switch level {
      case .ok: ("ok", .green)
      case .warning: ("!", .yellow)
      case .failure: ("FAIL", .red)
      }
    let mark = style.applied(to: DisplayText.padded(word, to: 4), inColour: inColour)
    let line = "\(mark)  \(DisplayText.padded(check, to: 13))  \(DisplayText.clean(what))"
    return [line] + (next.map { ["      \(DisplayText.clean($0))"] } ?? [])
  }
}
