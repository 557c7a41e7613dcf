// Reads stored bodies. The thread of its connection.

internal import Cryptography
internal import Domain

/// The dictionaries that a connection's bodies needed so far. They never change, so each is read once.
final class BodyReader {
  private let reading: StoreStatement
  private var dictionaries: [DictionaryNumber: BodyDictionary] = [:]

  init(_ connection: StoreConnection) {
    reading = connection.prepareOnUse(
      "SELECT made_at, content, digest FROM dictionaries WHERE number = ?1")
  }

  /// The body as it was received.
  /// - Throws: `corrupt` if its dictionary is missing, or if it does not fit the bytes.
  func unpack(_ body: StoredBody) throws(StoreFault) -> [UInt8] {
    guard let number = body.dictionary else { return body.bytes }
    return try dictionary(number).unpack(body.bytes)
  }

  /// Forgets the dictionaries. Called after a rollback, because a later dictionary may get the number of one
  /// that was rolled back.
  func invalidate() { dictionaries = [:] }

  /// A purchase whose columns are `PurchaseRow.columns`.
  func purchase(_ row: StoreRow) throws(StoreFault) -> PurchaseRecord {
    try PurchaseRow.record(from: row, content: try StoredContent(row).read(self))
  }

  /// The same, with empty content if the content cannot be read. For callers that do not need it.
  func purchaseWithoutContent(_ row: StoreRow) throws(StoreFault) -> PurchaseRecord {
    let stored = try StoredContent(row)
    do throws(StoreFault) {
      return try PurchaseRow.record(from: row, content: stored.read(self))
    } catch {
      guard error.kind == .corrupt else { throw error }
      return try PurchaseRow.record(from: row, content: stored.placeholder)
    }
  }

  /// A context's text: in its own column, or in a frame.
  func contextText(_ row: StoreRow, at column: Int, frame: Int) throws(StoreFault) -> String {
    guard !row.isNull(frame) else { return try row.text(column) }
    return String(decoding: try unpack(StoredBody(row, at: frame, frame + 1)), as: UTF8.self)
  }

  func dictionary(_ number: DictionaryNumber) throws(StoreFault) -> BodyDictionary {
    if let known = dictionaries[number] { return known }
    let found = try reading.first([.integer(number)]) { row throws(StoreFault) in
      (madeAt: Timestamp(unixMilliseconds: row.integer(0)), content: row.blob(1), digest: row.blob(2))
    }
    guard let found else {
      throw StoreFault(
        .corrupt, operation: "read body",
        reason: "dictionary \(number) is not stored; \(StoreFault.remedy)")
    }
    do throws(CompressionError) {
      guard SHA256.digest(found.content) == found.digest else { throw .invalidDictionary }
      let made = try BodyDictionary(number, madeAt: found.madeAt, content: found.content)
      dictionaries[number] = made
      return made
    } catch {
      throw StoreFault(error, number)
    }
  }
}
