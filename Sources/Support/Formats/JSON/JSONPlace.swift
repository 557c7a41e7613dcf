// One entry of the list that `JSONTape` makes. A value.

/// One value or key.
struct JSONPlace {
  enum Kind: UInt8 {
    case null, no, yes, number, string, array, object
  }

  /// The first byte; for a string, the byte after its opening quote.
  var start: UInt32
  /// The number of bytes, without the quotes.
  var count: UInt32
  /// The index of the place after this value and its content. While the value is open: the enclosing
  /// container.
  var next: UInt32
  var kind: Kind
  /// For a string: whether it has no escapes, so its bytes are its value.
  var isPlain = true
  /// For a string: whether all its bytes are ASCII.
  var isASCII = true
}
