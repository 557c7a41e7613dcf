// A new dictionary, and how well it compresses. Pure.

internal import Domain
internal import Store

/// A dictionary that may replace the present one.
struct DictionaryCandidate {
  static let bytesMax = 16 << 10
  /// A dictionary is worth storing if it makes bodies at most this large, compared with the present
  /// dictionary; or with no compression, if there is none.
  static let gainMin = 0.8
  /// How many bytes to learn from: 100 times the dictionary, as zdict.h recommends.
  private static let learnedBytesMax = 100 * bytesMax
  /// One body of this many is not learned from, and used to compare.
  private static let testEvery = 8
  /// How many bytes of bodies are enough to learn from and to compare.
  static let bytesWanted = learnedBytesMax / (testEvery - 1) * testEvery

  let content: [UInt8]
  /// The sizes of the compared bodies: as received, with the present dictionary, and with the new one.
  let sizes: (received: Int, present: Int, new: Int)

  /// - Returns: nil if the bodies have too little in common.
  init?(
    from bodies: [(body: [UInt8], owner: String)], present: BodyDictionary?,
    ownersMin: Int = AnonymousSamples.ownersMin, seed: UInt64
  ) {
    let anonymous = AnonymousSamples(bodies, ownersMin: ownersMin)
    var filler = Filler(seed: seed)
    var samples: [UInt8] = []
    var sampleSizes: [Int] = []
    var tests: [[UInt8]] = []
    for (index, (body, _)) in bodies.enumerated() {
      if index % Self.testEvery == 0 {
        tests.append(body)
      } else if samples.count < Self.learnedBytesMax, let sample = anonymous.sample(body, &filler) {
        samples += sample
        sampleSizes.append(sample.count)
      }
    }
    guard
      let content = try? DictionaryTraining.dictionary(
        from: samples, sizes: sampleSizes, bytesMax: Self.bytesMax),
      let new = try? BodyDictionary(0, madeAt: Timestamp(unixMilliseconds: 0), content: content)
    else { return nil }
    func size(_ pack: ([UInt8]) -> StoredBody) -> Int { tests.reduce(0) { $0 + pack($1).bytes.count } }
    self.content = content
    sizes = (
      size { StoredBody($0) }, size { present?.pack($0) ?? StoredBody($0) }, size { new.pack($0) }
    )
  }

  var isWorthStoring: Bool { Double(sizes.new) <= Double(sizes.present) * Self.gainMin }
}
