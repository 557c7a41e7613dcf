// `--wait` of `receipts complete` and `receipts correct` for a single receipt: polls the database until it is
// delivered, or is not. Can be interrupted: receiptd continues.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum ReceiptFollow {
  /// Wakes receiptd, prints what was done, and with `--wait` waits for the outcome.
  /// - Parameters:
  ///   - id: the receipt to send.
  ///   - done: what was done to it, as a sentence.
  static func conclude(
    _ id: ReceiptID, _ done: String, _ session: Session, _ configuration: Configuration, _ reader: StoreReader
  ) throws -> ExitCode {
    session.wakeDaemon(configuration)
    if !session.isJSON { session.output.line(done) }
    let code = session.command.flag("wait") ? try wait(for: id, session, configuration, reader) : .done
    if session.isJSON, let record = try reader.receipt(id: id) {
      session.output.json(ReceiptResource.list.object(of: record))
    }
    return code
  }

  private static func wait(
    for id: ReceiptID, _ session: Session, _ configuration: Configuration, _ reader: StoreReader
  ) throws -> ExitCode {
    session.dependencies.catchStop()
    let shown = DisplayText.clean(id.text)
    if try !session.isServed(configuration, reader) {
      session.output.note("No receiptd seems to serve this database; it is delivered once one does.")
    }
    let clock = session.dependencies.clock
    let begin = clock.monotonic
    var noted: Set<String> = []
    while let record = try reader.receipt(id: id), let receipt = record.receipt {
      guard receipt.state == .pending else {
        let reason = receipt.reason.map { " (\($0.text))" } ?? ""
        session.output.note("\(shown) is \(receipt.state.rawValue)\(DisplayText.clean(reason)).")
        return receipt.state == .delivered ? .done : .partly
      }
      if clock.monotonic.duration(since: begin) >= JobFollow.quietTime {
        let stoppages = try Stoppage.all(of: [record.app], reader, configuration, now: session.now)
        for stoppage in stoppages where noted.insert(stoppage.key).inserted {
          session.output.note(stoppage.text)
        }
      }
      if session.dependencies.isStopped(JobFollow.pause) { break }
    }
    session.output.note("receiptd continues. See: receiptctl receipts show \(shown)")
    return .tryAgain
  }
}
