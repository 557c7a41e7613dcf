// The bytes that are bound to a statement, in one piece of memory that is used again and again: SQLite would take
// memory for each text of each call.

/// A statement's own copies of the texts and blobs that are bound to it.
///
/// Owns its memory. What was kept stands still until the next `begin`. The statement's thread.
@safe final class BindingBuffer {
  /// A longer value is left to SQLite, so that no statement holds on to much memory.
  static let valueBytesMax = 4096

  private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var used = 0

  deinit {
    unsafe memory.deallocate()
  }

  /// Makes room for these values; what was kept before is gone.
  func begin(_ values: [Value]) {
    used = 0
    let needed = values.reduce(0) { $0 + Self.size(of: $1) }
    guard unsafe needed > memory.count else { return }
    unsafe memory.deallocate()
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(256, needed * 2), alignment: 1)
  }

  /// Copies the bytes.
  /// - Returns: where they are; nil when they are too many, or none.
  func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count <= Self.valueBytesMax, let source = bytes.baseAddress,
      unsafe bytes.count <= memory.count - used, let start = unsafe memory.baseAddress
    else { return nil }
    let place = unsafe start + used
    unsafe place.copyMemory(from: source, byteCount: bytes.count)
    used += bytes.count
    return UnsafeRawPointer(place)
  }

  private static func size(of value: Value) -> Int {
    let size =
      switch value {
      case .text(let text): text.utf8.count
      case .blob(let bytes): bytes.count
      case .null, .integer: 0
      }
    return size <= valueBytesMax ? size : 0
  }
}
