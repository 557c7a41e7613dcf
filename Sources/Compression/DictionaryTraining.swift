// Training of dictionaries by libzstd (zdict.h). Thread-safe.

internal import CZstd

/// Makes dictionaries for `FrameCodec`.
public enum DictionaryTraining {
  /// Learns what samples have in common. Uses about 6 MB of memory (ZDICT_trainFromBuffer) and a copy of the
  /// samples.
  ///
  /// The dictionary contains pieces of the samples, word for word.
  /// - Parameter bytesMax: the size of the dictionary; 100 times as many bytes of samples are recommended.
  public static func dictionary(
    from samples: [[UInt8]], bytesMax: Int
  ) throws(CompressionError) -> [UInt8] {
    let joined = Array(samples.joined())
    let sizes = samples.map(\.count)
    guard !joined.isEmpty, let count = UInt32(exactly: sizes.count) else { throw .nothingToLearn }
    var isDone = false
    let dictionary = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax) { buffer, written in
      let size = unsafe ZDICT_trainFromBuffer(buffer.baseAddress, bytesMax, joined, sizes, count)
      isDone = ZDICT_isError(size) == 0
      written = isDone ? size : 0
    }
    guard isDone else { throw .nothingToLearn }
    return dictionary
  }
}
