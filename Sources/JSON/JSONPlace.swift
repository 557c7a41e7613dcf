// One entry of the list that a pass over a JSON text makes (JSONTape). A value.

/// One value or key.
struct JSONPlace {
  enum Kind: UInt8 {
    case null, no, yes, number, string, array, object
  }

  /// The first byte; of a string, the one behind its quote.
  var start: UInt32
  /// Bytes, without the quotes.
  var count: UInt32
  /// The index of the place behind this value and all that is in it. While the value is open: the container
  /// that it stands in.
  var next: UInt32
  var kind: Kind
  /// Of a string: whether it has no escapes, so that its bytes are its value.
  var isPlain = true
  /// Of a string: whether all its bytes are ASCII.
  var isASCII = true
}
