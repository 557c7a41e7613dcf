// The body of one request while it comes in: never more than was admitted (R8), and no more memory than the
// budget has left. A value that lives under its connection's lock.

internal import Platform

/// Collects a body. What it holds of the budget goes back when the value goes: that is when the request is
/// answered, for until then the application has the bytes.
struct BodyCollection {
  enum Outcome {
    case taken
    /// More than was admitted.
    case tooLarge
    /// The budget has nothing left.
    case noRoom
  }

  let maximumBytes: Int
  /// How long it can become: what is announced, or else what is admitted.
  private let lengthMax: Int
  private let isAnnounced: Bool
  private var bytes: [UInt8] = []
  private var capacity = 0
  private let grant: BodyGrant

  init(maximumBytes: Int, announcedBytes: Int64?, grant: BodyGrant) {
    self.maximumBytes = maximumBytes
    lengthMax = min(maximumBytes, Int(clamping: announcedBytes ?? .max))
    isAnnounced = announcedBytes != nil
    self.grant = grant
  }

  mutating func append(_ chunk: UnsafeRawBufferPointer) -> Outcome {
    guard chunk.count <= maximumBytes - bytes.count else { return .tooLarge }
    let length = bytes.count + chunk.count
    if length > capacity {
      // At first what is announced, but only so much of it: an announcement costs a client nothing. Then
      // twice as much each time, so that few bytes are copied often.
      let first = isAnnounced ? ServerConfiguration.smallBodyBytesMax : length
      let wanted = capacity == 0 ? first : capacity * 2
      let next = max(length, min(lengthMax, wanted))
      guard next <= ServerConfiguration.smallBodyBytesMax || grant.grow(to: next) else { return .noRoom }
      bytes.reserveCapacity(next)
      capacity = next
    }
    unsafe bytes.append(contentsOf: chunk)
    return .taken
  }

  /// Hands the bytes over; their part of the budget stays held as long as this value.
  mutating func takeBytes() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}
