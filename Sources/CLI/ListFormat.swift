// How lists are printed: a table for people, JSON lines or CSV for other programs. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
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
  /// - Parameter now: the time to which its table's times are relative; this machine's without it.
  func show<Row>(
    _ rows: [Row], _ resource: Resource<Row>, _ format: ListFormat, _ configuration: Configuration,
    now: Timestamp? = nil, empty: String? = nil
  ) {
    switch format {
    case .table:
      var table = table(rows, resource, configuration, now: now)
      if let empty { table.emptyMessage = empty }
      output.table(table)
    case .json: add(rows, resource, format)
    case .csv:
      output.text(resource.csvHeader)
      add(rows, resource, format)
    }
  }

  /// Continues a list that is not a table.
  func add<Row>(_ rows: [Row], _ resource: Resource<Row>, _ format: ListFormat) {
    output.text(
      rows.map { format == .csv ? resource.csv(of: $0) : resource.object(of: $0).text + "\n" }.joined())
  }

  /// Prints a list that has one page.
  /// - Parameter more: what it says if that does not show all.
  func show<Filter: ListFilter>(
    _ filter: Filter, limit: Int, _ reader: StoreReader, _ configuration: Configuration, more: String
  ) throws -> ExitCode {
    let format = try ListFormat(self)
    let page = try filter.read(reader, limit: limit, now: now)
    show(page.entries, Filter.resource, format, configuration)
    return page.compared.map { partly($0, format, more) } ?? .done
  }

  /// Says that a list shows only a part and has no next page: to other programs as the last object.
  /// - Parameter compared: how many entries it is made of.
  func partly(_ compared: Int, _ format: ListFormat, _ note: String) -> ExitCode {
    if format == .json { output.json(["compared": .integer(Int64(compared)), "complete": false]) }
    output.note(note)
    return .partly
  }

  func table<Row>(
    _ rows: [Row], _ resource: Resource<Row>, _ configuration: Configuration, now: Timestamp? = nil
  ) -> Table {
    let several = configuration.hasSeveralProcessors(resource.processors(of: rows))
    let fields = resource.table.filter { several || !$0.layout.contains(.ifSeveral) }
    let columns = fields.map { field in
      Table.Column(
        field.heading, alignment: field.layout.contains(.number) ? .trailing : .leading,
        canShrink: field.layout.contains(.shrinks), canDrop: field.layout.contains(.drops))
    }
    var table = Table(columns, emptyMessage: resource.emptyTable)
    for row in rows { table.add(fields.map { Table.Cell($0.cell(row), now: now ?? self.now) }) }
    return table
  }
}

extension Table.Cell {
  fileprivate init(_ cell: ListCell?, now: Timestamp) {
    switch cell {
    case .text(let text, let tone): self.init(text, tone.style)
    case .state(let text, let tone, reason: _): self.init(text, tone.style)
    case .id(let id): self.init(id.text)
    case .identifier(let id): self.init(id)
    case .app(let app): self.init(app.text)
    case .count(let count): self.init(count: count)
    case .time(let time), .moment(let time):
      self.init(RelativeTime.text(of: time.unixMilliseconds, now: now.unixMilliseconds))
    case .duration(let time): self.init(LatencyText.time(time), time >= .seconds(1) ? .yellow : .plain)
    case nil: self.init("-")
    }
  }
}

extension Tone {
  /// Its style in a table.
  var style: Style {
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
