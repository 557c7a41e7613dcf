// The body of one request while it arrives. It never exceeds the admitted length (R8) or the memory that the
// budget has left. A value, protected by its connection's lock.

/// Collects a body. Releases its part of the budget when the value is destroyed: the application holds the
/// bytes until the request is answered.
struct BodyCollection {
  enum Outcome {
    case collected
    /// The body is longer than admitted.
    case tooLarge
    /// The budget lacks this number of bytes. Nothing was collected.
    case noRoom(bytes: Int64)
  }

  let maximumBytes: Int
  /// The maximum length: the announced length, or else the admitted one.
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

  /// Whether the body holds a part of the budget.
  var isInBudget: Bool { grant.held > 0 }

  mutating func append(_ chunk: UnsafeRawBufferPointer) -> Outcome {
    guard chunk.count <= maximumBytes - bytes.count else { return .tooLarge }
    let length = bytes.count + chunk.count
    if length > capacity {
      // The first allocation is the announced length, up to a limit, because an announcement costs a client
      // nothing. Each later allocation doubles the capacity, which keeps copying low.
      let first = isAnnounced ? ServerConfiguration.smallBodyBytesMax : length
      let wanted = capacity == 0 ? first : capacity * 2
      let next = max(length, min(lengthMax, wanted))
      guard next <= ServerConfiguration.smallBodyBytesMax || grant.grow(to: next) else {
        return .noRoom(bytes: Int64(next - grant.held))
      }
      bytes.reserveCapacity(next)
      capacity = next
    }
    unsafe bytes.append(contentsOf: chunk)
    return .collected
  }

  /// Returns the bytes. Their part of the budget stays reserved until this value is destroyed.
  mutating func popBytes() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }
}
