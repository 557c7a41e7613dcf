// The history of one receipt as a table. Pure.

internal import Reports
internal import Terminal

extension ReceiptStory {
  /// How much of an answer is shown; `--json` has all that was stored.
  private static let responseCharactersMax = 200

  func table(_ session: Session) -> Table {
    var table = Table([.init("TIME"), .init("WHEN"), .init("WHAT"), .init("DETAIL")], emptyMessage: "")
    for entry in entries {
      let answer = DisplayText.clean(String(decoding: entry.answer, as: UTF8.self))
      let shown = DisplayText.truncated(answer, to: Self.responseCharactersMax)
      table.add([
        Table.Cell(entry.time.text), Table.Cell(session.relative(entry.time)),
        Table.Cell(entry.what, entry.tone.style),
        Table.Cell(answer.isEmpty ? entry.detail : "\(entry.detail): \(shown)"),
      ])
    }
    return table
  }
}

extension ReceiptStory.Tone {
  fileprivate var style: Style {
    switch self {
    case .plain: .plain
    case .good: .green
    case .bad: .red
    case .pending: .yellow
    case .waiting: .cyan
    case .ended: .dim
    }
  }
}
