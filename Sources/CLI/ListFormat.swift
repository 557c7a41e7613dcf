// How lists are printed: a table for people, JSON lines or CSV for other programs. One thread.

internal import Formats
internal import Reports
internal import Terminal

enum ListFormat {
  case table, json, csv

  /// `--csv` of every list.
  static let option = OptionSpec(
    flag: "csv", help: "Comma-separated values with a header (RFC 4180), for a spreadsheet")

  init(_ session: Session) throws(UsageError) {
    let isCSV = session.command.flag("csv")
    if isCSV, session.isJSON { throw session.usage("--csv and --json exclude each other") }
    self = isCSV ? .csv : session.isJSON ? .json : .table
  }
}

extension Session {
  /// Prints a list.
  func show<Entry>(
    _ entries: [Entry], _ fields: ExportFields<Entry>, _ format: ListFormat,
    table: ([Entry]) throws -> Table
  ) throws {
    switch format {
    case .table: output.table(try table(entries))
    case .json: add(entries, fields, format)
    case .csv:
      output.text(fields.csvHeader)
      add(entries, fields, format)
    }
  }

  /// Continues a list that is not a table.
  func add<Entry>(_ entries: [Entry], _ fields: ExportFields<Entry>, _ format: ListFormat) {
    let lines = entries.map { format == .csv ? fields.csv(of: $0) : fields.object(of: $0).text + "\n" }
    output.text(lines.joined())
  }
}
