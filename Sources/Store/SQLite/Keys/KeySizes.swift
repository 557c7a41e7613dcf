// When keys are moved from one table to the next. A value.

/// The sizes at which `TieredKeys` moves keys. Tests use smaller ones, so that few commits move some.
public struct KeySizes: Sendable {
  /// How many entries a generation has before it is sealed. Each takes some 28 bytes of memory. The more
  /// there are, the more of them share a page of `recent_keys`.
  public var generation = 65_536
  /// How many entries a part of `recent_keys` has before it is moved on: that many in the first part, three
  /// times as many in the last, so that they are not all moved at the same time.
  public var recentPart = 2_048

  public init() {}

  public init(generation: Int, recentPart: Int) {
    self.generation = generation
    self.recentPart = recentPart
  }
}
