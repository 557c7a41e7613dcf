// One reading of a command line with one set of options: words, options, and problems. Pure; any thread.

extension CommandParser {
  struct Reading {
    /// Arguments that are not options, in order, up to `--`.
    private(set) var words: [String] = []
    /// The arguments after `--`.
    private(set) var afterTerminator: [String] = []
    private(set) var given: [(option: OptionSpec, value: String?)] = []
    /// Unknown options, with their hyphens.
    private(set) var unknown: [String] = []
    /// Known options with an unexpected or a missing value.
    private(set) var problems: [String] = []

    private var rest: ArraySlice<String>

    init(_ arguments: [String], options: [OptionSpec]) {
      rest = arguments[...]
      while let argument = rest.popFirst() {
        if argument == "--" {
          afterTerminator = Array(rest)
          return
        }
        if argument.hasPrefix("--") {
          readLong(argument.dropFirst(2), options)
        } else if Self.looksLikeOption(argument) {
          readShort(argument.dropFirst(), options)
        } else {
          words.append(argument)
        }
      }
    }

    /// Whether a flag was given.
    func asks(for flag: String) -> Bool { given.contains { $0.option.name == flag && $0.option.isFlag } }

    /// A single hyphen means stdin or stdout, and a negative number is a value.
    private static func looksLikeOption(_ argument: String) -> Bool {
      guard argument.hasPrefix("-"), let second = argument.dropFirst().first else { return false }
      return !second.isNumber
    }

    private mutating func readLong(_ text: Substring, _ options: [OptionSpec]) {
      // Bytes, not characters: a value may begin with a combining character, which would merge with the sign
      // before it.
      let parts = text.utf8.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(Substring(parts[0]))
      let attached = parts.count > 1 ? String(Substring(parts[1])) : nil
      guard let option = options.first(where: { $0.name == name }) else {
        unknown.append("--\(name)")
        return
      }
      if option.isFlag {
        if attached != nil { problems.append("--\(name) takes no value") }
        given.append((option, nil))
      } else if let value = attached ?? valueBehind() {
        given.append((option, value))
      } else {
        problems.append("--\(name) needs a value: --\(name) \(option.placeholder ?? "VALUE")")
      }
    }

    /// `-y`, `-n 5`, `-n5`, and combined flags, `-yq`.
    private mutating func readShort(_ text: Substring, _ options: [OptionSpec]) {
      var text = text
      while let letter = text.popFirst() {
        guard let option = options.first(where: { $0.short == letter }) else {
          unknown.append("-\(letter)")
          return
        }
        if option.isFlag {
          given.append((option, nil))
          continue
        }
        if let value = text.isEmpty ? valueBehind() : String(text) {
          given.append((option, value))
        } else {
          problems.append("-\(letter) needs a value: -\(letter) \(option.placeholder ?? "VALUE")")
        }
        return
      }
    }

    /// The next argument, unless it is an option: `--why --help` asks for help. A value that begins with a
    /// hyphen is written `--why=-…`.
    private mutating func valueBehind() -> String? {
      guard let next = rest.first, next != "--", !Self.looksLikeOption(next) else { return nil }
      return rest.popFirst()
    }
  }
}
