// Training of dictionaries by libzstd (zdict.h). Thread-safe.

internal import CZstd

/// Makes dictionaries for `FrameCodec`.
public enum DictionaryTraining {
  /// Learns what samples have in common. Uses about 6 MB of memory (ZDICT_trainFromBuffer).
  ///
  /// The dictionary contains pieces of the samples, word for word.
  /// - Parameters:
  ///   - samples: one after another.
  ///   - sizes: of each sample, in bytes.
  ///   - bytesMax: the size of the dictionary; 100 times as many bytes of samples are recommended.
  public static func dictionary(
    from samples: [UInt8], sizes: [Int], bytesMax: Int
  ) throws(CompressionError) -> [UInt8] {
    precondition(sizes.reduce(0, +) == samples.count)
    guard !samples.isEmpty, let count = UInt32(exactly: sizes.count) else { throw .nothingToLearn }
    var isDone = false
    let dictionary = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax) { buffer, written in
      let size = unsafe ZDICT_trainFromBuffer(buffer.baseAddress, bytesMax, samples, sizes, count)
      isDone = ZDICT_isError(size) == 0
      written = isDone ? size : 0
    }
    guard isDone else { throw .nothingToLearn }
    return dictionary
  }
}
