// Zstandard (RFC 8878) by libzstd, for many small texts that resemble each other. Thread-safe: dictionaries
// are digested once and only read, and each call has its own context (zstd.h, "Explicit context").

internal import CZstd
internal import Platform

/// Compresses and decompresses single frames with one dictionary, or without any.
///
/// Owns the digested dictionary and its contexts, at most one of each kind for each concurrent caller. Making
/// a context takes longer than compressing a text of 3 KB.
///
/// A frame states the size of its content, the id of its dictionary, and a checksum of its content (RFC 8878
/// §3.1.1): a damaged frame or a wrong dictionary is an error and never another text.
@safe public final class FrameCodec: @unchecked Sendable {
  /// The fastest level of the standard ones. On events with a dictionary, level 3 saves 3 % more and takes a
  /// sixth longer.
  public static let levelDefault = 1

  private let dictionary: [UInt8]
  private let level: Int32
  private let dictionaryID: UInt32
  private let decompressing: OpaquePointer
  /// Made for the first text: its tables are several times as large as the dictionary, and readers need none.
  private let compressing = Monitor<Digest?>(nil)
  private let compressors = Monitor<[Context]>([])
  private let decompressors = Monitor<[Context]>([])

  @safe private struct Digest: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// A context that is not in use. It refers to the codec's dictionary.
  @safe private struct Context: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  /// - Parameter dictionary: with entropy tables and an id (RFC 8878 §5); empty for none. It is copied.
  public init(dictionary: [UInt8] = [], level: Int = levelDefault) throws(CompressionError) {
    // The id is 0 for bytes that libzstd would use as they are (ZSTD_getDictID_fromDict): then nothing in a
    // frame would show which dictionary it needs.
    dictionaryID = unsafe dictionary.isEmpty ? 0 : ZSTD_getDictID_fromDict(dictionary, dictionary.count)
    guard dictionary.isEmpty || dictionaryID != 0 else { throw .invalidDictionary }
    guard let decompressing = unsafe ZSTD_createDDict(dictionary, dictionary.count) else {
      throw .invalidDictionary
    }
    unsafe self.decompressing = decompressing
    self.dictionary = dictionary
    self.level = Int32(level)
  }

  deinit {
    for context in compressors.withLock({ $0 }) { unsafe ZSTD_freeCCtx(context.pointer) }
    for context in decompressors.withLock({ $0 }) { unsafe ZSTD_freeDCtx(context.pointer) }
    if let digest = compressing.withLock({ $0 }) { unsafe ZSTD_freeCDict(digest.pointer) }
    unsafe ZSTD_freeDDict(decompressing)
  }

  /// The frame of a text.
  public func compress(_ text: [UInt8]) throws(CompressionError) -> [UInt8] {
    let context = try popCompressor()
    defer { compressors.withLock { $0.append(context) } }
    // With this much room, the only possible failure is a lack of memory (ZSTD_compressBound).
    let room = ZSTD_compressBound(text.count)
    var isDone = false
    let frame = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let written = unsafe ZSTD_compress2(context.pointer, buffer.baseAddress, room, text, text.count)
      isDone = ZSTD_isError(written) == 0
      count = isDone ? written : 0
    }
    guard isDone else { throw .outOfMemory }
    return frame
  }

  /// The text of a frame that this dictionary made.
  /// - Parameter sizeMax: the longest text. A frame of a few bytes can stand for gigabytes, so memory is
  ///   allocated only for a size that the frame states and that is allowed.
  public func decompress(_ frame: [UInt8], sizeMax: Int) throws(CompressionError) -> [UInt8] {
    let size = unsafe ZSTD_getFrameContentSize(frame, frame.count)
    // ZSTD_CONTENTSIZE_ERROR; the macro has a type that Swift does not read.
    guard size != UInt64.max - 1 else { throw .damagedFrame }
    // ZSTD_CONTENTSIZE_UNKNOWN is larger than any limit.
    guard size <= UInt64(sizeMax) else { throw .refusedSize }
    guard unsafe ZSTD_getDictID_fromFrame(frame, frame.count) == dictionaryID else { throw .otherDictionary }
    // ZSTD_decompressDCtx reads any number of frames.
    guard unsafe ZSTD_findFrameCompressedSize(frame, frame.count) == frame.count else { throw .damagedFrame }
    let context = try popDecompressor()
    defer { decompressors.withLock { $0.append(context) } }
    let room = Int(size)
    var isDone = false
    let text = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let written = unsafe ZSTD_decompressDCtx(context.pointer, buffer.baseAddress, room, frame, frame.count)
      // An error code is larger than any size.
      isDone = written == room
      count = isDone ? room : 0
    }
    guard isDone else { throw .damagedFrame }
    return text
  }

  private func popCompressor() throws(CompressionError) -> Context {
    if let context = compressors.withLock({ $0.popLast() }) { return context }
    let digest = try digest()
    guard let made = unsafe ZSTD_createCCtx() else { throw .outOfMemory }
    // The parameters and the dictionary stay for all frames (zstd.h, "Parameters are sticky"). The level is
    // the dictionary's.
    let isReady =
      unsafe ZSTD_isError(ZSTD_CCtx_setParameter(made, ZSTD_c_checksumFlag, 1)) == 0
      && ZSTD_isError(ZSTD_CCtx_refCDict(made, digest.pointer)) == 0
    guard isReady else {
      unsafe ZSTD_freeCCtx(made)
      throw .outOfMemory
    }
    return unsafe Context(pointer: made)
  }

  /// The dictionary, digested for compressing.
  private func digest() throws(CompressionError) -> Digest {
    let digest = compressing.withLock { known in
      if known == nil, let made = unsafe ZSTD_createCDict(dictionary, dictionary.count, level) {
        unsafe known = Digest(pointer: made)
      }
      return known
    }
    guard let digest else { throw .outOfMemory }
    return digest
  }

  private func popDecompressor() throws(CompressionError) -> Context {
    if let context = decompressors.withLock({ $0.popLast() }) { return context }
    guard let made = unsafe ZSTD_createDCtx() else { throw .outOfMemory }
    guard unsafe ZSTD_isError(ZSTD_DCtx_refDDict(made, decompressing)) == 0 else {
      unsafe ZSTD_freeDCtx(made)
      throw .outOfMemory
    }
    return unsafe Context(pointer: made)
  }
}

// MARK: - CompressionError

// What libzstd refuses.

/// Why bytes could not be compressed or decompressed. It contains none of them.
public enum CompressionError: Error, Sendable, Equatable {
  /// libzstd could not allocate memory.
  case outOfMemory
  /// The content is not a dictionary with entropy tables and an id (RFC 8878 §5).
  case invalidDictionary
  /// The bytes are not exactly one complete frame (RFC 8878 §3.1.1), or its content does not have its
  /// checksum.
  case damagedFrame
  /// The frame was made with another dictionary, or one of the two was made without any.
  case otherDictionary
  /// The frame does not state how long its content is, or the content is longer than allowed.
  case refusedSize
}
