// The owners of the apps of a batch, on an engine that several programs use. The writer's thread.

internal import Domain

final class LeaseRows {
  private var present: [AppSlug: Fence] = [:]

  /// Those that a batch has declared. Read after the apps were locked.
  func reads(_ declared: Set<ReadKey>) -> [BulkRead] {
    present = [:]
    let apps = declared.compactMap { key in if case .lease(let app) = key { app } else { nil } }
    return [BulkRead("name, owner, epoch", of: "leases", where: "name", in: apps.map { .text($0) })]
  }

  func add(_ row: StoreRow) throws(StoreFault) {
    let app: AppSlug = try row.text(0)
    present[app] = Fence(app: app, owner: row.integer(1), epoch: row.integer(2))
  }

  /// Whether an app still has this owner.
  func isCurrent(_ fence: Fence) -> Bool { present[fence.app] == fence }
}
