// Why a copy was refused or failed, in words for the operator. Pure; any thread.

internal import Domain
internal import Platform
internal import Store
internal import Terminal

extension DatabaseCopy {
  /// - Parameters:
  ///   - source: the database that is copied, without passwords.
  ///   - target: the copy, likewise.
  static func fault(_ fault: CopyFault, _ source: String, _ target: String) -> OperatorFault {
    let (from, to) = (DisplayText.clean(source), DisplayText.clean(target))
    func refused(_ text: String) -> OperatorFault { OperatorFault(.refused, DisplayText.clean(text)) }
    let again = "empty \(to) or choose another empty database, and copy again"
    switch fault {
    case .used(let isSource, let hosts):
      return refused(
        "receiptd uses \(isSource ? from : to) now, or did a minute ago, on "
          + "\(hosts.joined(separator: ", ")); stop each receiptd of it, and try again a minute later")
    case .retired(let place, let at):
      return refused("\(from): \(StoreError.retired(to: place, at: at))")
    case .unfinished(let place): return refused("\(from): \(StoreError.unfinishedCopy(of: place))")
    case .sameDatabase: return refused("--to names the database itself; name an empty one")
    case .notEmpty(let table):
      return refused("\(to) is not empty: \(table) has rows; choose an empty database")
    case .otherCopy(let place):
      return refused("\(to) is an unfinished copy of \(place), and not of \(from) as it is now; \(again)")
    case .sourceChanged:
      return refused("\(from) was used after the copy began, so the copy is not complete; \(again)")
    case .otherSchema(let table):
      return OperatorFault(
        .badData,
        "\(table) has other columns in \(to) than in \(from); use one version of Receipt Relay for both")
    case .fault(let fault):
      let isTemporary = [.unavailable, .conflict, .busy, .interrupted].contains(fault.kind)
      guard isTemporary else { return OperatorFault(fault) }
      return OperatorFault(
        .tryAgain,
        "the copy was interrupted (\(DisplayText.clean(fault.description))); run the same command again, it "
          + "continues")
    }
  }
}
