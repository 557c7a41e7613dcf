// Reads compressed texts as any program can that has nothing but the database: the simulations compare what
// was sent with what is stored.

import SQLiteStore
import Store

/// The dictionaries of a database, of one read or several: a number never gets another content.
final class StoredTexts {
  private let reading: Statement
  private var codecs: [Int64: FrameCodec] = [:]

  init(_ connection: Connection) throws {
    reading = try connection.prepare("SELECT content FROM dictionaries WHERE number = ?1")
  }

  /// - Parameter number: the dictionary of the frame that the bytes are; nil if they are the text.
  func text(_ bytes: [UInt8], _ number: Int64?) throws -> [UInt8] {
    guard let number else { return bytes }
    if codecs[number] == nil {
      let content = try reading.first([.integer(number)]) { row throws(SQLiteError) in row.blob(0) }
      codecs[number] = try FrameCodec(dictionary: content ?? [])
    }
    return try codecs[number]?.decompress(bytes, sizeMax: 1 << 24) ?? []
  }
}
