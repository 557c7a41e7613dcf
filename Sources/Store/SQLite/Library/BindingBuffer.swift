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
  /// The size that the block gets at the next `begin`.
  private var nextSize = 0

  deinit {
    unsafe memory.deallocate()
  }

  /// Discards the kept bytes.
  func begin() -> BindingRoom {
    if unsafe nextSize > memory.count {
      unsafe memory.deallocate()
      unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: nextSize, alignment: 1)
    }
    return unsafe BindingRoom(free: memory)
  }

  /// Makes the block larger, once its bytes are not in use.
  /// - Parameter missed: how many bytes did not fit.
  func grow(by missed: Int) {
    nextSize = unsafe min(Self.bytesMax, memory.count + max(2 * missed, 256))
  }
}

/// What is left of the block while the parameters of one use are bound.
@safe struct BindingRoom {
  private var free: UnsafeMutableRawBufferPointer
  /// How many bytes did not fit.
  private(set) var missed = 0

  init(free: UnsafeMutableRawBufferPointer) { unsafe self.free = unsafe free }

  /// Copies the bytes.
  /// - Returns: their address; nil when the block has no room for them or `bytes` is empty.
  @inline(__always)
  mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard unsafe bytes.count <= free.count, let source = bytes.baseAddress,
      let place = unsafe free.baseAddress
    else {
      missed += bytes.count
      return nil
    }
    unsafe place.copyMemory(from: source, byteCount: bytes.count)
    unsafe free = unsafe UnsafeMutableRawBufferPointer(
      start: place + bytes.count, count: free.count - bytes.count)
    return UnsafeRawPointer(place)
  }
}
