// The model of the jobs: each matching receipt is in its job once, is processed at most once and gets one
// outcome, and the job ends. Checked after every commit.

import SQLiteStore

@testable import Store

/// The jobs of all relays of one world.
struct JobMemory {
  private struct Job {
    /// Receipts that matched when the job was created, with their states at that time.
    var candidates: [String: String] = [:]
    var isPreparing = true
    var hasEnded = false
    /// By position.
    var places: [Int64: Place] = [:]
  }

  private struct Place: Equatable {
    var purchase: Int64
    var outcome: String
  }

  private var jobs: [Int64: Job] = [:]
  private var faults: [String] = []
  /// For the report.
  private(set) var released = 0

  var count: Int { jobs.count }

  /// Records a new job.
  /// - Parameter candidates: the receipts that match its request, and their states.
  mutating func begin(_ row: Int64, candidates: [String: String]) { jobs[row] = Job(candidates: candidates) }

  private static let ends = ["delivered", "failed", "cancelled", "skipped", "gone"]

  /// Checks the jobs that the commit at this time changed; without a time, all of them. Called before the
  /// receipts are checked, to record which receipts an operator's job touched.
  mutating func checkChanges(_ reader: Connection, wall: Int64?, _ memory: inout Memory) throws {
    let changed = try reader.prepare(
      "SELECT row_id, state, total, ended_at IS NOT NULL FROM jobs WHERE ?1 IS NULL OR updated_at = ?1"
    ).all([.optional(wall)]) { row throws(SQLiteError) in
      (row: row.integer(0), state: try row.text(1), total: row.integer(2), hasEnded: row.flag(3))
    }
    for found in changed {
      // A job that was never acknowledged: its caller died before the answer.
      var job = jobs[found.row] ?? Job()
      try compare(&job, found.row, reader, &memory)
      if job.places.count != found.total { fault(found.row, "counts \(found.total) receipts") }
      if job.isPreparing, found.state != "preparing" {
        if found.state != "cancelled" { try lookForAll(job, found.row, reader, memory) }
        job.isPreparing = false
      }
      if job.hasEnded, !found.hasEnded { fault(found.row, "had ended and goes on") }
      job.hasEnded = found.hasEnded
      let open = job.places.values.filter { !Self.ends.contains($0.outcome) }
      if found.hasEnded, open.contains(where: { $0.outcome == "released" || found.state == "done" }) {
        fault(found.row, "ended although something of it is still to come")
      }
      try checkCounts(job, found.row, reader)
      jobs[found.row] = job
    }
    memory.faults += faults
    faults = []
  }

  private mutating func compare(
    _ job: inout Job, _ row: Int64, _ reader: Connection, _ memory: inout Memory
  ) throws {
    let places = try reader.prepare(
      """
      SELECT position, purchase_row, outcome, p.app, \(Memory.objectSQL), p.state FROM job_receipts
      LEFT JOIN purchases p ON p.row_id = purchase_row WHERE job_row = ?1
      """
    ).all([.integer(row)]) { row throws(SQLiteError) in
      (
        position: row.integer(0), place: Place(purchase: row.integer(1), outcome: try row.text(2)),
        key: Memory.key(try row.optionalText(3) ?? "", try row.optionalText(4) ?? ""),
        state: try row.optionalText(5)
      )
    }
    if Set(places.map(\.place.purchase)).count != places.count { fault(row, "has a receipt twice") }
    if places.count < job.places.count { fault(row, "has lost a receipt") }
    for (position, place, key, state) in places {
      let before = job.places[position]
      job.places[position] = place
      guard before != place else { continue }
      if before == nil, !job.isPreparing { fault(row, "has got \(key) after its start") }
      if let before, before.purchase != place.purchase { fault(row, "has another receipt in a place") }
      switch (before?.outcome ?? "planned", place.outcome) {
      case ("planned", "planned"), ("planned", "skipped"), ("planned", "gone"): break
      case ("planned", "released"), ("planned", "cancelled"):
        released += 1
        memory.touched.insert(key)
        // The receipt and the outcome of its place change in the same transaction.
        let isChanged =
          place.outcome == "cancelled" ? state == "cancelled" : state == "pending" || state == "waiting"
        if !isChanged { fault(row, "notes \(key) as \(place.outcome), which is \(state ?? "gone")") }
      case ("released", "delivered"), ("released", "failed"), ("released", "cancelled"):
        if state != place.outcome {
          fault(row, "notes \(key) as \(place.outcome), which is \(state ?? "gone")")
        }
      case ("released", "gone"): break
      case (let old, let new): fault(row, "has \(key) from \(old) to \(new)")
      }
    }
  }

  /// Every receipt that matched when the job was created, and is unchanged, is in the job.
  private mutating func lookForAll(_ job: Job, _ row: Int64, _ reader: Connection, _ memory: Memory) throws {
    for (key, state) in job.candidates where memory.seen[key]?.state == state {
      let words = key.split(separator: " ", maxSplits: 1).map(String.init)
      let purchase = try reader.prepare(
        "SELECT row_id FROM purchases WHERE app = ?1 AND \(Memory.objectSQL) = ?2 AND state = ?3"
      ).first([.text(words[0]), .text(words[1]), .text(state)]) { row throws(SQLiteError) in row.integer(0) }
      if let purchase, !job.places.values.contains(where: { $0.purchase == purchase }) {
        fault(row, "has left out \(key)")
      }
    }
  }

  private mutating func checkCounts(_ job: Job, _ row: Int64, _ reader: Connection) throws {
    var counts: [String: Int64] = [:]
    try reader.prepare("SELECT outcome, count FROM job_counts WHERE job_row = ?1").forEach([.integer(row)]) {
      row throws(SQLiteError) in counts[try row.text(0), default: 0] += row.integer(1)
    }
    let places = Dictionary(grouping: job.places.values, by: \.outcome).mapValues { Int64($0.count) }
    for outcome in Self.ends + ["released"] where counts[outcome] ?? 0 != places[outcome] ?? 0 {
      fault(row, "counts \(counts[outcome] ?? 0) \(outcome), and has \(places[outcome] ?? 0)")
    }
  }

  private mutating func fault(_ row: Int64, _ words: String) { faults.append("job \(row) \(words)") }

  /// Jobs that are unfinished after days without activity.
  func unfinished(_ reader: Connection) throws -> [String] {
    try reader.prepare(
      """
      SELECT j.row_id, j.state, outcome, coalesce(p.state, 'gone'), coalesce(p.reason, '') FROM jobs j
      LEFT JOIN job_receipts r ON job_row = j.row_id AND outcome IN ('planned', 'released')
      LEFT JOIN purchases p ON p.row_id = purchase_row WHERE j.ended_at IS NULL
      """
    ).all { row throws(SQLiteError) in
      "job \(row.integer(0)), \(try row.text(1)), never ends: a receipt that is \(try row.text(3)) "
        + "\(try row.text(4)) is \(try row.optionalText(2) ?? "none of it")"
    }
  }
}
