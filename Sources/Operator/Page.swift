// Pages of lists: the number of rows, and the command that shows the next page. Pure; any thread.

internal import Domain
internal import Terminal

/// The page that a list command shows.
struct Page {
  static let limitDefault = 50
  static let limitMax = 10_000

  /// `--limit` and `--after` of every list.
  static func options(of what: String) -> [OptionSpec] {
    [
      OptionSpec("limit", placeholder: "N", help: "At most this many; default \(limitDefault)"),
      OptionSpec("after", placeholder: "ID", help: "Start after this \(what): the next page"),
    ]
  }

  /// `--since` and `--until` of every list.
  static func timeOptions(_ what: String) -> [OptionSpec] {
    [
      OptionSpec(
        "since", placeholder: "TIME", help: "Only those \(what) then or later: \(TimeArgument.forms)"),
      OptionSpec("until", placeholder: "TIME", help: "Only those \(what) before then"),
    ]
  }

  let limit: Int
  let after: String?

  init(_ session: Session) throws {
    limit = try session.command.integer("limit", in: 1...Self.limitMax) ?? Self.limitDefault
    after = session.command.options["after"]
  }

  /// One more than is shown, to find out whether there is a next page.
  var fetchLimit: Int { limit + 1 }

  /// Prints the command for the next page, if there is one.
  /// - Parameter last: the last entry of this page, as `--after` accepts it.
  func note(fetched: Int, last: String?, _ session: Session) throws {
    guard fetched > limit, let last else { return }
    session.output.note("More: \(try Self.command(session, after: last))")
  }

  /// The same command starting after `last`. Relative times become absolute, so that the next page covers the
  /// same period.
  private static func command(_ session: Session, after last: String) throws -> String {
    let command = session.command
    var words = [OperatorProgram.name] + command.path
    let options = command.spec.options.filter { $0.name != "after" } + CommandTable.spec.options
    for option in options {
      if option.isFlag {
        if command.flag(option.name) { words.append("--\(option.name)") }
        continue
      }
      let isTime = option.name == "since" || option.name == "until"
      let time = isTime ? try session.time(option.name)?.text : nil
      for value in command.options.all(option.name) {
        words += ["--\(option.name)", ShellWord.quoted(time ?? value)]
      }
    }
    return (words + ["--after", ShellWord.quoted(last)]).joined(separator: " ")
  }
}

/// Arguments of a command line that the operator may copy.
enum ShellWord {
  /// The text as one word of a POSIX shell (POSIX.1-2024, Shell Command Language §2.2.2).
  static func quoted(_ text: String) -> String {
    let clean = DisplayText.clean(text)
    let isPlain = clean.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "_@%+=:,./-".utf8.contains(byte)
      }
    }
    if isPlain, !clean.isEmpty { return clean }
    // Scalar by scalar: a shell also sees a quote that forms one character with a combining mark after it.
    var word = "'"
    for scalar in clean.unicodeScalars {
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + "'"
  }
}
