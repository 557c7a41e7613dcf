// The dictionaries with which bodies are compressed. They are part of the program. Thread-safe.

internal import Domain

/// A dictionary (RFC 8878 §5) for many small texts that resemble each other.
///
/// Its number is stored with each body that it compressed, so neither numbers nor contents ever change. A
/// better dictionary gets another number; `deploy/dev/dictionaries` makes it from fixtures.
public enum BodyDictionary: Int64, Sendable, CaseIterable {
  /// The events of Stripe.
  case stripe = 1
  /// The callbacks of Swedbank Pay.
  case swedbank = 2
  /// The bodies of receipts, and contexts, which make up most of such a body.
  case receipt = 3

  /// The dictionary for the events of a processor; nil if they are stored as they were received.
  static func ofEvents(from processor: ProcessorName) -> BodyDictionary? {
    switch processor {
    case "stripe": .stripe
    case "swedbank": .swedbank
    default: nil
    }
  }

  package var content: [UInt8] {
    switch self {
    case .stripe: PackageResources.stripe_dict
    case .swedbank: PackageResources.swedbank_dict
    case .receipt: PackageResources.receipt_dict
    }
  }

  /// Digested once. A codec cannot be made only for lack of memory.
  private static let codecs = allCases.map { try? FrameCodec(dictionary: $0.content) }

  private var codec: FrameCodec? { Self.codecs[Int(rawValue) - 1] }

  /// The body compressed, or unchanged if that would not make it smaller.
  func pack(_ body: [UInt8]) -> StoredBody {
    guard StoredBody.sizes ~= body.count,
      // Compression fails only for lack of memory. The uncompressed body is larger, but correct.
      let frame = try? codec?.compress(body), frame.count < body.count
    else { return StoredBody(body) }
    return StoredBody(frame, rawValue)
  }

  /// The body of a frame that this dictionary made.
  func unpack(_ frame: [UInt8]) throws(StoreFault) -> [UInt8] {
    do throws(CompressionError) {
      guard let codec else { throw .outOfMemory }
      return try codec.decompress(frame, sizeMax: StoredBody.bytesMax)
    } catch {
      throw fault(error)
    }
  }

  private func fault(_ error: CompressionError) -> StoreFault {
    let reason =
      switch error {
      case .outOfMemory: "there is no memory to decompress it"
      case .damagedFrame, .invalidDictionary: "the compressed bytes are damaged"
      case .otherDictionary: "it was not compressed with dictionary \(rawValue), which its row names"
      case .refusedSize: "its compressed bytes state no size, or one beyond the limit"
      }
    return StoreFault(error == .outOfMemory ? .outOfMemory : .corrupt, operation: "read body", reason: reason)
  }
}

extension StoreReader {
  /// The bodies that name a dictionary which this program does not have: one sentence for each table. Reads
  /// the heads of all rows.
  package func unknownDictionaries() throws(StoreFault) -> [String] {
    let known = BodyDictionary.allCases.map { String($0.rawValue) }.joined(separator: ", ")
    var found: [String] = []
    for table in ["events", "purchases", "contexts"] {
      let sql = "SELECT count(*) FROM \(table) WHERE dictionary NOT IN (\(known))"
      guard let count = try connection.integer(sql), count > 0 else { continue }
      found.append("rows of \(table) that need a dictionary which this program does not have: \(count)")
    }
    return found
  }
}
