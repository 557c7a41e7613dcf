// Frames of libzstd's wrapper: round trips, damage, and sizes that lie.

import Platform
import TestSupport
import Testing

@testable import Store

/// Texts with a common structure and different values.
private func samples(_ count: Int) -> [[UInt8]] { (0..<count).map { SampleEvent($0).body } }

@Suite("Frames")
struct FrameCodecTests {
  private static let sizeMax = 1 << 20

  private static let dictionary = BodyDictionary.stripe.content

  @Test func `A text is read back from its frame, with and without a dictionary, of any length`() throws {
    for codec in [try FrameCodec(), try FrameCodec(dictionary: Self.dictionary)] {
      for count in [0, 1, 2, 7, 8, 100, 4096, 200_000, Self.sizeMax] {
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        let frame = try codec.compress(text)
        #expect(try codec.decompress(frame, sizeMax: Self.sizeMax) == text)
      }
    }
  }

  @Test func `A dictionary makes small texts much smaller`() throws {
    let text = SampleEvent(999).body
    let with = try FrameCodec(dictionary: Self.dictionary).compress(text).count
    let without = try FrameCodec().compress(text).count
    #expect(with * 3 < without * 2)
    #expect(without < text.count)
  }

  @Test func `A frame of another dictionary, or of none, is refused`() throws {
    let codecs = [
      try FrameCodec(), try FrameCodec(dictionary: Self.dictionary),
      try FrameCodec(dictionary: BodyDictionary.receipt.content),
    ]
    for (number, codec) in codecs.enumerated() {
      let frame = try codec.compress(samples(1)[0])
      for (other, codec) in codecs.enumerated() where other != number {
        #expect(throws: CompressionError.otherDictionary) {
          try codec.decompress(frame, sizeMax: Self.sizeMax)
        }
      }
    }
  }

  @Test("A frame with any changed bit is refused or read correctly, and never read as another text")
  func changedBit() throws {
    let codec = try FrameCodec(dictionary: Self.dictionary)
    let text = samples(77)[76]
    let frame = try codec.compress(text)
    var refused = 0
    for bit in 0..<(frame.count * 8) {
      var damaged = frame
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      do throws(CompressionError) {
        #expect(try codec.decompress(damaged, sizeMax: Self.sizeMax) == text, "bit \(bit)")
      } catch {
        refused += 1
      }
    }
    #expect(refused > frame.count * 7)
  }

  @Test func `A frame that is cut off, or that anything follows, is refused`() throws {
    let codec = try FrameCodec(dictionary: Self.dictionary)
    let frame = try codec.compress(samples(5)[4])
    for count in 0..<frame.count {
      #expect(throws: CompressionError.self, "\(count) bytes") {
        try codec.decompress(Array(frame.prefix(count)), sizeMax: Self.sizeMax)
      }
    }
    // A byte, a second frame, and a skippable frame (RFC 8878 §3.1.2).
    for tail in [[0], try codec.compress([]), [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]] as [[UInt8]] {
      #expect(throws: CompressionError.damagedFrame) {
        try codec.decompress(frame + tail, sizeMax: Self.sizeMax)
      }
    }
  }

  @Test("A frame whose content is longer than allowed, or of unknown length, is refused before it is read")
  func bomb() throws {
    let codec = try FrameCodec()
    let frame = try codec.compress([UInt8](repeating: 0, count: Self.sizeMax))
    #expect(frame.count < 200)
    #expect(throws: CompressionError.refusedSize) { try codec.decompress(frame, sizeMax: Self.sizeMax - 1) }
    // Frame_Content_Size of 8 bytes: the most that a header can state (RFC 8878 §3.1.1.1).
    let huge: [UInt8] =
      [0x28, 0xB5, 0x2F, 0xFD, 0xE0] + [UInt8](repeating: 0xFF, count: 7) + [0x7F, 1, 0, 0]
    #expect(throws: CompressionError.refusedSize) { try codec.decompress(huge, sizeMax: Self.sizeMax) }
    // No Frame_Content_Size, a window of 1 KiB, and an empty last block.
    let unknown: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x00, 0x01, 0x00, 0x00]
    #expect(throws: CompressionError.refusedSize) { try codec.decompress(unknown, sizeMax: Self.sizeMax) }
  }

  @Test func `A frame whose content is longer than it states is refused`() throws {
    let codec = try FrameCodec()
    var frame = try codec.compress([UInt8](repeating: 7, count: 200))
    // Single_Segment_flag with a Frame_Content_Size of one byte.
    try #require(frame[4] & 0xE0 == 0x20)
    try #require(frame[5] == 200)
    frame[5] = 199
    #expect(throws: CompressionError.damagedFrame) { try codec.decompress(frame, sizeMax: Self.sizeMax) }
  }

  @Test func `Bytes that are no dictionary are refused`() throws {
    let noID = Array("this is not a dictionary".utf8)
    #expect(throws: CompressionError.invalidDictionary) { try FrameCodec(dictionary: noID) }
    let cut = Array(Self.dictionary.prefix(20))
    #expect(throws: CompressionError.invalidDictionary) { try FrameCodec(dictionary: cut) }
  }

  @Test func `Several threads use one codec at once`() throws {
    let codec = try FrameCodec(dictionary: Self.dictionary)
    let texts = samples(200)
    let (begun, read) = (Monitor(0), Monitor(0))
    let threads = try (0..<4).map { number in
      try WorkerThread(name: "codec-\(number)") {
        begun.update { $0 += 1 }
        _ = begun.wait { $0 == 4 ? true : nil }
        for text in texts {
          let longer = text + [UInt8](repeating: UInt8(number), count: number * 1000)
          let frame = try? codec.compress(longer)
          let again = frame.flatMap { try? codec.decompress($0, sizeMax: Self.sizeMax) }
          if again == longer { read.update { $0 += 1 } }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(read.withLock { $0 } == 4 * texts.count)
  }
}
