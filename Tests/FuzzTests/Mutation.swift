// Seeded mutations of known inputs, for runs without libFuzzer. Pure; one thread.

import Platform

/// Creates mutations of known inputs.
struct Mutation {
  /// Bytes with a special meaning in the formats.
  private static let special: [UInt8] =
    [0, 0x09, 0x0A, 0x0D, 0x1B, 0x20, 0x7F, 0x80, 0xC0, 0xE2, 0xED, 0xFF]
    + Array("\"'\\/{}[],:;=%&?+-.#@$0919eEtZ".utf8)

  private let inputs: [[UInt8]]
  private let bytesMax: Int
  private var random: SeededGenerator

  init(_ inputs: [[UInt8]], bytesMax: Int, seed: UInt64) {
    self.inputs = inputs
    self.bytesMax = bytesMax
    random = SeededGenerator(seed: seed)
  }

  mutating func next() -> [UInt8] {
    var bytes = inputs.randomElement(using: &random) ?? []
    for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes) }
    return Array(bytes.prefix(bytesMax))
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let position = Int.random(in: 0...bytes.count, using: &random)
    let end = Int.random(in: position...bytes.count, using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0 where position < bytes.count: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where position < bytes.count: bytes[position] = UInt8.random(in: 0...255, using: &random)
    case 2: bytes.insert(Self.special.randomElement(using: &random) ?? 0, at: position)
    case 3: bytes.removeSubrange(position..<end)
    case 4: bytes.insert(contentsOf: bytes[position..<end], at: position)
    case 5:
      // Repeats a part many times, to reach limits.
      let part = Array(bytes[position..<min(end, position + 8)])
      let times = part.isEmpty ? 0 : min(bytesMax / part.count, Int.random(in: 1...2000, using: &random))
      bytes.insert(contentsOf: repeatElement(part, count: times).joined(), at: position)
    default:
      let other = inputs.randomElement(using: &random) ?? []
      let start = Int.random(in: 0...other.count, using: &random)
      bytes.replaceSubrange(position..., with: other[start...])
    }
  }
}
