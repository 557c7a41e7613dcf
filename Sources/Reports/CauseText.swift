// Why delivery attempts fail, as people type it. A value that no receipt can have is rejected, because an
// empty list would look like good news. Pure; called from any thread.

public import Domain
internal import HTTPClient
internal import Platform

extension Reason {
  private static let causes =
    TransferFailure.allCases.map(\.rawValue)
    + Reason.hiddenRefusals.filter { $0 != .codedAnswer }.map(\.text)

  /// Why a word is not the cause of a failed attempt, and which one was probably meant. Not sanitized: the
  /// word is unchanged.
  /// - Returns: nil if attempts can fail so.
  public static func fault(inCause word: String) -> String? {
    if causes.contains(word) || isStatus(word) { return nil }
    let status = "http_\(word)"
    let near = isStatus(status) ? status : EditDistance.nearest(to: word, among: causes)
    let advice =
      near.map { "did you mean '\($0)'?" } ?? "the causes are http_STATUS, \(causes.joined(separator: ", "))"
    return "no attempt can fail with '\(word)'; \(advice)"
  }
}
