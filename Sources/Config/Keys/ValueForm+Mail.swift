// Addresses of e-mails. Pure; any thread.

internal import Formats

extension ValueForm<String> {
  /// An address as RFC 5321 §4.1.2 has it, without quotes and comments: it becomes an argument of a program
  /// and a part of a header.
  static var mailAddress: ValueForm {
    ValueForm(
      shape: ValueShape("an e-mail address", .pattern(MailAddress.pattern)),
      read: { value, path, context in
        let expected = "an e-mail address, such as ops@example.com"
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        if !MailAddress.isValid(text) { context.collector.fault(path, "must be \(expected)") }
        return text
      }, show: JSONValue.string)
  }
}

private enum MailAddress {
  private static let marks = "!#$%&'*+/=?^_`{|}~"

  /// Accepts every valid address, and some others.
  static let pattern = "^[A-Za-z0-9\(marks)][A-Za-z0-9\(marks).-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]*$"

  static func isValid(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, let name = parts.first, let host = parts.last, name.count <= 64,
      host.count <= 253
    else { return false }
    let dot = UInt8(ascii: ".")
    let words = [name, host].flatMap { $0.split(separator: dot, omittingEmptySubsequences: false) }
    let hyphen = UInt8(ascii: "-")
    // A hyphen at the beginning would make an option of it.
    return words.allSatisfy { !$0.isEmpty } && name.first != hyphen && host.first != hyphen
      && name.allSatisfy { isAlphanumeric($0) || $0 == dot || $0 == hyphen || marks.utf8.contains($0) }
      && host.allSatisfy { isAlphanumeric($0) || $0 == dot || $0 == hyphen }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
