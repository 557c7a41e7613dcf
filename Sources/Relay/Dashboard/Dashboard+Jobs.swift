// Many receipts at once. (Filled in when jobs are there.)

internal import Domain
internal import HTML
internal import Store

extension Dashboard {
  func replay(
    _ group: FailureGroup, _ words: String?, _ visitor: String, _ exchange: Exchange
  ) throws(Refusal) {
    throw .problem(.busy)
  }
}
