// A stored dictionary, ready to compress and read bodies. Thread-safe.

public import Domain

/// One version of the dictionary for bodies.
public struct BodyDictionary: Sendable {
  public let number: DictionaryNumber
  public let madeAt: Timestamp
  private let codec: FrameCodec

  public init(_ number: DictionaryNumber, madeAt: Timestamp, content: [UInt8]) throws(CompressionError) {
    (self.number, self.madeAt) = (number, madeAt)
    codec = try FrameCodec(dictionary: content)
  }

  /// The body compressed, or unchanged if that would not make it smaller.
  public func pack(_ body: [UInt8]) -> StoredBody {
    guard StoredBody.sizes ~= body.count,
      // Compression fails only for lack of memory. The uncompressed body is larger, but correct.
      let frame = try? codec.compress(body), frame.count < body.count
    else { return StoredBody(body) }
    return StoredBody(frame, number)
  }

  /// The body of a frame that this dictionary made.
  func unpack(_ frame: [UInt8]) throws(StoreFault) -> [UInt8] {
    do throws(CompressionError) {
      return try codec.decompress(frame, sizeMax: StoredBody.bytesMax)
    } catch {
      throw StoreFault(error, number)
    }
  }
}

extension StoreFault {
  /// What an operator can do about a dictionary. Bodies that need it can be read with no other.
  static let remedy = "bodies compressed with it can be read only from a backup that has this dictionary"

  /// Why a body, or the dictionary of bodies, cannot be used.
  init(_ error: CompressionError, _ number: DictionaryNumber) {
    func corrupt(_ reason: String) -> StoreFault {
      StoreFault(.corrupt, operation: "read body", reason: reason)
    }
    self =
      switch error {
      case .outOfMemory:
        StoreFault(.outOfMemory, operation: "read body", reason: "there is no memory to decompress it")
      case .invalidDictionary, .nothingToLearn: corrupt("dictionary \(number) is damaged; \(Self.remedy)")
      case .damagedFrame: corrupt("the compressed bytes are damaged")
      case .otherDictionary: corrupt("it was not compressed with dictionary \(number), which its row names")
      case .refusedSize: corrupt("its compressed bytes state no size, or one beyond the limit")
      }
  }
}

// MARK: - BodyKind

// What a dictionary is for. A value.

/// The kinds of texts that are compressed, each with its own dictionaries.
public enum BodyKind: String, Sendable, CaseIterable {
  /// The bodies of events.
  case event
  /// The bodies of receipts, and contexts, which make up most of such a body.
  case receipt
}
