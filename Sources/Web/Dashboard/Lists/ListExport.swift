// A list as a file: read slice by slice while it is sent, so that a list of any length costs no memory, and
// the pages of others are served between two slices.

internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Store

/// How many exports run at once: each takes a share of the one thread and of the one reader.
final class ExportPlaces: Sendable {
  static let max = 2

  private let taken = Monitor(0)

  /// A place; nil if all are taken.
  func acquire() -> ExportPlace? {
    let isFree = taken.withLock { taken in
      guard taken < Self.max else { return false }
      taken += 1
      return true
    }
    return isFree ? ExportPlace(self) : nil
  }

  fileprivate func release() { taken.withLock { $0 -= 1 } }
}

/// The place of one export, until this value is released.
final class ExportPlace: Sendable {
  private let places: ExportPlaces

  fileprivate init(_ places: ExportPlaces) { self.places = places }

  deinit { places.release() }
}

/// The format of an exported list.
enum ExportFormat: String, Sendable, CaseIterable {
  case csv, json

  var mediaType: String {
    switch self {
    case .csv: "text/csv; charset=utf-8; header=present"
    case .json: "application/json"
    }
  }
}

/// The body of an exported list.
final class ListExport<Row, Position: Sendable>: BodyStream {
  /// Entries that are read at once: a few milliseconds.
  static var slice: Int { 500 }

  private struct State {
    var position: Position?
    var hasBegun = false
    var hasEntries = false
    var isOver = false
  }

  private let state = Monitor(State())
  private let format: ExportFormat
  private let resource: Resource<Row>
  private let place: ExportPlace
  private let read: @Sendable (Position?, _ limit: Int) throws -> ListPage<Row, Position>

  /// - Parameter read: reads a slice after a position; nil is the start.
  init(
    _ format: ExportFormat, _ resource: Resource<Row>, _ place: ExportPlace,
    read: @escaping @Sendable (Position?, _ limit: Int) throws -> ListPage<Row, Position>
  ) {
    self.format = format
    self.resource = resource
    self.place = place
    self.read = read
  }

  func next() throws -> [UInt8]? {
    let (position, isOver) = state.withLock { ($0.position, $0.isOver) }
    guard !isOver else { return nil }
    let page = try read(position, Self.slice)
    return state.withLock { state in
      var text = ""
      if !state.hasBegun { text += format == .csv ? resource.csvHeader : "[" }
      for entry in page.entries {
        switch format {
        case .csv: text += resource.csv(of: entry)
        case .json: text += (state.hasEntries ? ",\n" : "\n") + resource.object(of: entry).text
        }
        state.hasEntries = true
      }
      if page.next == nil, format == .json { text += "\n]\n" }
      state.hasBegun = true
      state.position = page.next
      state.isOver = page.next == nil
      return Array(text.utf8)
    }
  }
}
