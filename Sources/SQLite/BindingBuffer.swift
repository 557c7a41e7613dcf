// The bytes that are bound to a statement, in one piece of memory that is used again and again: SQLite would
// take memory for each text of each call.

/// A statement's own copies of the texts and blobs that are bound to it.
///
/// Owns its memory. What was kept stands still until the next `begin`. The statement's thread.
@safe final class BindingBuffer {
  /// What does not fit into this is left to SQLite, so that no statement holds on to much memory.
  static let bytesMax = 8192

  private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var used = 0
  /// How much more room there should have been.
  private var missed = 0

  deinit {
    unsafe memory.deallocate()
  }

  /// What was kept is gone; if it was not enough room for all, there is more now.
  func begin() {
    used = 0
    guard missed > 0, unsafe memory.count < Self.bytesMax else { return }
    let size = unsafe min(Self.bytesMax, memory.count + max(2 * missed, 256))
    unsafe memory.deallocate()
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    missed = 0
  }

  /// Copies the bytes.
  /// - Returns: where they are; nil when there is no room for them, or no byte.
  func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard unsafe bytes.count <= memory.count - used, let source = bytes.baseAddress,
      let start = unsafe memory.baseAddress
    else {
      missed += bytes.count
      return nil
    }
    let place = unsafe start + used
    unsafe place.copyMemory(from: source, byteCount: bytes.count)
    used += bytes.count
    return UnsafeRawPointer(place)
  }
}
