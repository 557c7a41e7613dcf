// Why a request to a payment URL gets no redirect to the app. A value; thread-safe. The message never
// contains request data, because a browser shows it.

/// The fault of a request, and how to fix it.
public struct CallbackFault: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }

  static func missing(_ name: String, _ advice: String) -> CallbackFault {
    CallbackFault("The parameter `\(name)` is missing: \(advice).")
  }

  static func invalid(_ name: String, _ fault: String) -> CallbackFault {
    CallbackFault("The parameter `\(name)` \(fault).")
  }

  static func unlisted(_ name: String) -> CallbackFault {
    invalid(name, "is not configured; check it against `links.swedbank`")
  }

  public static let impureTarget = CallbackFault(
    "The address has a character that no browser sends in one (a blank, a quotation mark, an angle bracket, "
      + "a number sign, a control character or one beyond ASCII). Percent-encode it.")

  static let longTarget = CallbackFault("The address is too long. Leave out parameters that are not needed.")
}
