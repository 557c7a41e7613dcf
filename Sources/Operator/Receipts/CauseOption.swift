// `--cause`: why the last delivery attempt failed. A value that no receipt can have is rejected, because an
// empty list would look like good news.

internal import Domain
internal import HTTPClient
internal import Platform
internal import Terminal

enum CauseOption {
  static let name = "cause"
  static let spec = OptionSpec(
    name, placeholder: "CAUSE",
    help: "Only those whose last attempt failed so, such as timeout, connect_failed or http_503")

  private static let words =
    TransferFailure.allCases.map(\.rawValue) + [Reason.htmlAnswer.text, Reason.errorAnswer.text]

  static func value(_ session: Session) throws -> String? {
    guard let text = session.command.options[name] else { return nil }
    if words.contains(text) || Reason.isStatus(text) { return text }
    let status = "http_\(text)"
    let near = Reason.isStatus(status) ? status : EditDistance.nearest(to: text, among: words)
    let advice =
      near.map { "did you mean '\($0)'?" } ?? "the causes are http_STATUS, \(words.joined(separator: ", "))"
    throw session.usage("no attempt can fail with '\(DisplayText.clean(text))'; \(advice)")
  }
}
