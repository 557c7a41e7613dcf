// The content of a receipt as it is stored. A value.

/// The body of a receipt and the context of its purchase. The body contains the context, so the row does not
/// have it twice.
struct StoredContent {
  /// The columns in which they are read; see `PurchaseRow.columns`.
  private static let columns = (context: 12, body: 24, dictionary: 44, contextAt: 45)

  let body: StoredBody?
  /// Nil if there is no context, and if it is in the body.
  let context: String?
  /// Its offset in the uncompressed body. It ends before the next quotation mark.
  let contextAt: Int64?

  init(body: [UInt8]?, context: String?) {
    contextAt = Self.place(of: context, in: body)
    self.context = contextAt == nil ? context : nil
    self.body = body.map(BodyDictionary.receipt.pack)
  }

  init(_ row: StoreRow) throws(StoreFault) {
    let dictionary: Int64? = row.optionalInteger(Self.columns.dictionary)
    body = row.optionalBlob(Self.columns.body).map { StoredBody($0, dictionary) }
    context = try row.optionalText(Self.columns.context)
    contextAt = row.optionalInteger(Self.columns.contextAt)
  }

  typealias Content = (body: [UInt8]?, context: String?)

  /// The columns of a list, which does not show content, in place of these: they say whether a row has it.
  static let presenceColumns = [
    "ply_context": "CASE WHEN ply_context IS NOT NULL OR context_at IS NOT NULL THEN 1 END",
    "body": "CASE WHEN body IS NOT NULL THEN 1 END",
  ]

  /// Empty content where a row with `presenceColumns` has any.
  static func presence(_ row: StoreRow) -> Content {
    (row.isNull(columns.body) ? nil : [], row.isNull(columns.context) ? nil : "")
  }

  /// - Throws: `corrupt` if the body cannot be decompressed, or does not contain the context.
  func read() throws(StoreFault) -> Content {
    guard let body else { return (nil, context) }
    let bytes = try body.read()
    guard let contextAt else { return (bytes, context) }
    guard let start = Int(exactly: contextAt), bytes.indices.contains(start),
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
    else { throw Self.lacksContext }
    return (bytes, String(decoding: bytes[start..<end], as: UTF8.self))
  }

  /// Empty content for a row whose content cannot be read, present where the row has any.
  var placeholder: Content { (body == nil ? nil : [], contextAt == nil ? context : "") }

  /// Where a JSON string in a body is exactly the context; nil if none is.
  private static func place(of context: String?, in body: [UInt8]?) -> Int64? {
    guard let context, let body else { return nil }
    let text = Array(context.utf8)
    guard !text.isEmpty, text.count < body.count, !text.contains(UInt8(ascii: "\"")) else { return nil }
    // It is near the end of the bodies that most destinations receive.
    var start = body.count - text.count - 1
    while start > 0 {
      if body[start + text.count] == UInt8(ascii: "\""), body[start - 1] == UInt8(ascii: "\""),
        body[start..<start + text.count] == text[...]
      {
        return Int64(start)
      }
      start -= 1
    }
    return nil
  }

  private static let lacksContext = StoreFault(
    .corrupt, operation: "read a purchase", reason: "its context is not in the body, where its row has it")
}

// MARK: - StoredBody

// A body as it is stored. A value.

/// The stored bytes of a body, and the dictionary that decompresses them.
public struct StoredBody: Sendable, Equatable {
  /// Longer bodies are not compressed, and a frame of a longer one is not read. Webhooks and the pages of
  /// fetched events are shorter.
  public static let bytesMax = 64 << 20
  /// Shorter bodies are not compressed: that would save less than the row's other columns take.
  public static let bytesMin = 128

  /// The sizes of bodies that are compressed.
  static let sizes = bytesMin...bytesMax

  /// The number of the dictionary that made the frame; nil if the bytes are the body as it was received.
  public let dictionary: Int64?
  public let bytes: [UInt8]

  /// - Parameter bytes: as received.
  public init(_ bytes: [UInt8]) { (self.bytes, dictionary) = (bytes, nil) }

  /// - Parameter dictionary: nil if the bytes are the body as it was received.
  init(_ bytes: [UInt8], _ dictionary: Int64?) {
    (self.bytes, self.dictionary) = (bytes, dictionary)
  }

  /// - Parameters:
  ///   - column: that of the bytes.
  ///   - dictionaryColumn: that of the dictionary.
  init(_ row: StoreRow, at column: Int, _ dictionaryColumn: Int) {
    (bytes, dictionary) = (row.blob(column), row.optionalInteger(dictionaryColumn))
  }

  /// The body as it was received.
  /// - Throws: `corrupt` if its dictionary is unknown, or if it does not fit the bytes.
  package func read() throws(StoreFault) -> [UInt8] {
    guard let dictionary else { return bytes }
    guard let known = BodyDictionary(rawValue: dictionary) else {
      throw StoreFault(
        .corrupt, operation: "read body",
        reason: "it was compressed with dictionary \(dictionary), which only a newer version has")
    }
    return try known.unpack(bytes)
  }
}
