// A change of a key, and how it is stored.

/// A row that was added to a key, or removed from it.
struct KeyEntry: Hashable, Sendable {
  var key: Int64
  /// Negative if the row was removed from the key.
  var row: Int64

  /// The key and the row, whether the row was added or removed.
  var place: KeyEntry { KeyEntry(key: key, row: abs(row)) }
}

extension KeyEntry {
  /// The entries as stored in a row of `key_tail`: 16 bytes each, key and row, big-endian.
  static func bytes(of entries: [KeyEntry]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entries.count * 16)
    for entry in entries {
      for number in [entry.key, entry.row] {
        for shift in stride(from: 56, through: 0, by: -8) {
          bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
      }
    }
    return bytes
  }

  /// Ignores what only damage can cause: the bytes of an incomplete entry, and numbers that no row has.
  static func entries(in bytes: [UInt8]) -> [KeyEntry] {
    stride(from: 0, to: bytes.count - 15, by: 16).compactMap { start in
      let row = number(in: bytes, at: start + 8)
      // Negating the smallest number would end the process.
      return row == 0 || row == .min ? nil : KeyEntry(key: number(in: bytes, at: start), row: row)
    }
  }

  private static func number(in bytes: [UInt8], at start: Int) -> Int64 {
    var number: UInt64 = 0
    for byte in bytes[start..<start + 8] { number = number << 8 | UInt64(byte) }
    return Int64(bitPattern: number)
  }
}
