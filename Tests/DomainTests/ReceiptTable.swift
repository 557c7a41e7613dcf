// The table of `ReceiptLifeCycleTests`: what follows from every event in every state.

import Testing

enum ReceiptTable {
  /// `-` means that the event is refused.
  private static let table = """
                          waiting   pending   delivered failed/join failed/sent cancelled/join cancelled/sent
    resolved waiting      waiting   -         -         waiting     -           waiting        -
    resolved ready        pending   -         -         pending     -           pending        -
    resolved failed       failed    -         -         failed      -           failed         -
    resolved cancelled    cancelled -         -         cancelled   -           cancelled      -
    postponed             waiting   -         -         -           -           -              -
    withdrawn             -         waiting   -         -           -           -              -
    redirected            -         pending   -         -           -           -              -
    recomposed            -         -         -         failed      failed      cancelled      cancelled
    found sent            pending   pending   -         pending     failed      pending        cancelled
    context disputed      waiting   pending   delivered failed      failed      cancelled      cancelled
    attempted, delivered  delivered delivered delivered delivered   delivered   delivered      delivered
    attempted, retry      waiting   pending   delivered failed      failed      cancelled      cancelled
    attempted, failed     waiting   failed    delivered failed      failed      cancelled      cancelled
    gave up               -         failed    -         -           -           -              -
    reversed              -         -         pending   -           -           -              -
    replayed              pending   pending   -         pending     pending     pending        pending
    replayed with force   pending   pending   pending   pending     pending     pending        pending
    replayed as it was    -         pending   pending   -           pending     -              pending
    cancelled             cancelled cancelled -         cancelled   cancelled   -              -
    excepted              cancelled cancelled -         cancelled   cancelled   cancelled      -
    completed             pending   -         -         pending     pending     pending        pending
    corrected             -         -         delivered -           -           -              -
    copied                -         pending   -         -           -           -              -
    followed              -         -         -         -           -           -              -
    erased                cancelled cancelled delivered cancelled   cancelled   cancelled      cancelled
    erased, not open ones -         -         delivered cancelled   cancelled   cancelled      cancelled
    """

  /// The same events when the receipt's bytes report a reversal.
  private static let tableOfReversals = """
                          waiting/reversal pending/reversal delivered/reversal failed/reversal
    resolved waiting      -                -                -                  -
    resolved ready        -                -                -                  -
    resolved failed       -                -                -                  -
    resolved cancelled    -                -                -                  -
    postponed             waiting          -                -                  -
    withdrawn             -                waiting          -                  -
    redirected            -                -                -                  -
    recomposed            -                -                -                  -
    found sent            pending          pending          -                  failed
    context disputed      waiting          pending          delivered          failed
    attempted, delivered  delivered        delivered        delivered          delivered
    attempted, retry      waiting          pending          delivered          failed
    attempted, failed     waiting          failed           delivered          failed
    gave up               -                failed           -                  -
    reversed              pending          -                -                  -
    replayed              pending          pending          -                  pending
    replayed with force   pending          pending          pending            pending
    replayed as it was    pending          pending          pending            pending
    cancelled             cancelled        cancelled        -                  cancelled
    excepted              -                -                -                  -
    completed             -                -                -                  -
    corrected             -                -                -                  -
    copied                -                -                -                  -
    followed              -                -                -                  -
    erased                cancelled        cancelled        delivered          cancelled
    erased, not open ones -                -                delivered          cancelled
    """

  /// One cell of the table.
  struct Cell: Sendable, CustomTestStringConvertible {
    var event: String
    var column: String
    var state: String
    var testDescription: String { "\(column), \(event)" }
  }

  static let rows: [(event: String, cells: [Cell])] = {
    zip(read(table), read(tableOfReversals)).map { row, ofReversals in
      (row.event == ofReversals.event ? row.event : "the tables differ", row.cells + ofReversals.cells)
    }
  }()

  private static func read(_ table: String) -> [(event: String, cells: [Cell])] {
    let lines = table.split(separator: "\n")
    let columns = lines[0].split(separator: " ").map(String.init)
    return lines.dropFirst().map { line in
      let event = line.prefix(22).drop { $0 == " " }
      let name = String(event.reversed().drop { $0 == " " }.reversed())
      let states = line.dropFirst(22).split(separator: " ").map(String.init)
      return (name, zip(columns, states).map { Cell(event: name, column: $0, state: $1) })
    }
  }
}
