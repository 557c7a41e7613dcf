// What libzstd refuses.

/// Why bytes could not be compressed, decompressed or learned from. It contains none of them.
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
  /// There are too few samples, or they have too little in common.
  case nothingToLearn
}
