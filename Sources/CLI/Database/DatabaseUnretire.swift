// `db unretire`: undoes the last step of `db copy`. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Store
internal import Terminal

enum DatabaseUnretire {
  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reason = try session.reason()
    let hold = try CopyHold(configuration.database, configuration.durability, isTarget: false)
    let shown = DisplayText.clean(hold.name)
    guard let database = hold.engine?.writing, let mark = try database.retirement() else {
      throw OperatorFault(.notFound, "\(shown) is not retired; nothing was changed")
    }
    let copy = DisplayText.clean(mark.place)
    session.output.note(
      "\(shown) was copied to \(copy) at \(mark.at.text). If a receiptd has used the copy since, receipts "
        + "are delivered twice, and what only the copy has is missing here.")
    if session.command.flag("dry-run") {
      session.output.note("Nothing was changed.")
      return .done
    }
    try session.ask("Use \(shown) again?")
    let entry = session.auditEntry(reason: reason, details: ["copy": .string(mark.place)])
    guard try database.unretire(entry) != nil else {
      throw OperatorFault(.tryAgain, "another program has just changed that; look again")
    }
    if session.isJSON {
      session.output.json(["database": .string(hold.name), "copy": .string(mark.place)])
    } else {
      session.output.line("\(shown) can be used again. Do not start receiptd with \(copy).")
    }
    return .done
  }
}
