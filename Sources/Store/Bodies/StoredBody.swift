// A body as it is stored. A value.

public import Domain

/// The stored bytes of a body, and the dictionary that decompresses them.
public struct StoredBody: Sendable, Equatable {
  /// Longer bodies are not compressed, and a frame of a longer one is not read. Webhooks and the pages of
  /// fetched events are shorter.
  public static let bytesMax = 64 << 20
  /// Shorter bodies are not compressed: that would save less than the row's other columns take.
  public static let bytesMin = 128

  /// The sizes of bodies that are compressed.
  static let sizes = bytesMin...bytesMax

  /// The dictionary of the frame that the bytes are; nil if they are the body as it was received.
  public let dictionary: DictionaryNumber?
  public let bytes: [UInt8]

  /// - Parameter bytes: as received.
  public init(_ bytes: [UInt8]) { (self.bytes, dictionary) = (bytes, nil) }

  /// - Parameter dictionary: nil if the bytes are the body as it was received.
  init(_ bytes: [UInt8], _ dictionary: DictionaryNumber?) {
    (self.bytes, self.dictionary) = (bytes, dictionary)
  }

  /// - Parameters:
  ///   - column: that of the bytes.
  ///   - dictionaryColumn: that of the dictionary.
  init(_ row: StoreRow, at column: Int, _ dictionaryColumn: Int) {
    (bytes, dictionary) = (row.blob(column), row.optionalInteger(dictionaryColumn))
  }
}
