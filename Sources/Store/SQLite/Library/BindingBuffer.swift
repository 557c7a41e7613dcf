// Copies of bound values in one reusable block of memory. SQLite would allocate memory for each text of each
// call.

/// A statement's own copies of the texts and blobs that are bound to it.
///
/// Owns its memory. Kept bytes stay at their address until the next `begin`. Called from the statement's
/// thread.
@safe final class BindingBuffer {
  /// The maximum size of the block. SQLite copies what does not fit, so an idle statement holds little
  /// memory.
  static let bytesMax = 8192

  private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var used = 0
  /// How many bytes did not fit since the last `begin`.
  private var missed = 0

  deinit {
    unsafe memory.deallocate()
  }

  /// Discards the kept bytes, and grows the block if they did not all fit.
  func begin() {
    used = 0
    guard missed > 0, unsafe memory.count < Self.bytesMax else { return }
    let size = unsafe min(Self.bytesMax, memory.count + max(2 * missed, 256))
    unsafe memory.deallocate()
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    missed = 0
  }

  /// Copies the bytes.
  /// - Returns: their address; nil when the block has no room for them or `bytes` is empty.
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
