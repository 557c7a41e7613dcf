// Counters and histograms in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Thread-safe: each family has its own lock.

internal import Formats
public import Platform

/// The values of up to three labels. Not an array, which would need an allocation for every count.
public struct LabelValues: Hashable, Comparable {
  public var first = ""
  public var second = ""
  public var third = ""

  public init(first: String = "", second: String = "", third: String = "") {
    self.first = first
    self.second = second
    self.third = third
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.first, left.second, left.third) < (right.first, right.second, right.third)
  }

  /// The first values, as many as a family has labels.
  func first(_ count: Int) -> Self {
    Self(first: count > 0 ? first : "", second: count > 1 ? second : "", third: count > 2 ? third : "")
  }

  /// The values with the label names.
  public func pairs(_ names: [String]) -> [(String, String)] { Array(zip(names, [first, second, third])) }
}

/// A counter with labels. It never decreases.
public final class CounterFamily: Sendable {
  public let name: String
  public let help: String
  public let labels: [String]
  private let values = Monitor<[LabelValues: UInt64]>([:])

  public init(_ name: String, _ help: String, labels: [String]) {
    self.name = name
    self.help = help
    self.labels = labels
    // A counter without labels is exported from the start.
    if labels.isEmpty { add(0) }
  }

  public func add(_ count: UInt64) { values.withLock { $0[LabelValues(), default: 0] += count } }

  /// Adds 1. The label values are in the order of `labels`; they come from a fixed set (R7), never from a
  /// request. More values than labels are counted separately, and added up in the text.
  public func increment(_ first: String = "", _ second: String = "", _ third: String = "") {
    let labelValues = LabelValues(first: first, second: second, third: third)
    values.withLock { $0[labelValues, default: 0] += 1 }
  }

  /// The current samples.
  public func snapshot() -> [LabelValues: UInt64] { values.withLock { $0 } }

  /// Writes the family with its current samples.
  /// - Parameter zeros: samples that are exported before anything was counted. Prometheus' `increase` does
  ///   not see the first count of a sample that did not exist before.
  public func write(to text: inout MetricsText, zeros: [LabelValues] = []) {
    text.family(name, help, type: "counter")
    var samples = snapshot().reduce(into: [:]) { $0[$1.key.first(labels.count), default: 0] += $1.value }
    for key in zeros { samples[key, default: 0] += 0 }
    for (labelValues, value) in samples.sorted(by: { $0.key < $1.key }) {
      text.sample(name, labelValues.pairs(labels), String(value))
    }
  }
}

/// A histogram with fixed buckets and labels.
public final class HistogramFamily: Sendable {
  public let name: String
  public let help: String
  public let labels: [String]
  /// Upper bounds, ascending; the last bucket is +Inf.
  public let bounds: [Double]
  private let series = Monitor<[LabelValues: Series]>([:])

  private struct Series {
    var counts: [UInt64]
    var sum = 0.0
  }

  /// 1 ms to 10 s, three per decade.
  public static let secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  public init(_ name: String, _ help: String, labels: [String] = [], bounds: [Double]) {
    self.name = name
    self.help = help
    self.labels = labels
    self.bounds = bounds
  }

  /// Counts a value. The label values are as those of `CounterFamily.increment`.
  public func observe(_ value: Double, _ first: String = "", _ second: String = "") {
    var bucket = 0
    while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
    series.withLock { all in
      let none = Series(counts: [])
      func add(_ series: inout Series) {
        if series.counts.isEmpty { series.counts = Array(repeating: 0, count: bounds.count + 1) }
        series.counts[bucket] += 1
        series.sum += value
      }
      add(&all[LabelValues(first: first, second: second), default: none])
    }
  }

  /// Writes the family with its current samples.
  public func write(to text: inout MetricsText) {
    text.family(name, help, type: "histogram")
    for (labelValues, series) in series.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      let pairs = labelValues.pairs(labels)
      var total: UInt64 = 0
      for (count, bound) in zip(series.counts, bounds.map { MetricsText.number($0) } + ["+Inf"]) {
        total += count
        text.sample("\(name)_bucket", pairs + [("le", bound)], String(total))
      }
      text.sample("\(name)_sum", pairs, MetricsText.number(series.sum))
      text.sample("\(name)_count", pairs, String(total))
    }
  }
}

/// Builds the text of a scrape.
public struct MetricsText {
  public private(set) var text = ""

  /// Begins a family of samples.
  /// - Parameter type: `counter`, `gauge` or `histogram`.
  public mutating func family(_ name: String, _ help: String, type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  /// Adds one sample of the family that was begun last.
  public mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: String) {
    text += name
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += " \(value)\n"
  }

  /// Adds a whole family of gauges.
  public mutating func gauge(
    _ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
  ) {
    family(name, help, type: "gauge")
    for sample in samples { self.sample(name, sample.labels, Self.number(sample.value)) }
  }

  /// Whole numbers are written without a fraction.
  public static func number(_ value: Double) -> String {
    Int64(exactly: value).map { String($0) } ?? String(value)
  }

  /// Escapes backslash, quotation mark and line feed in a label's value.
  private static func escaped(_ value: String) -> String {
    var out = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": out += "\\\\"
      case "\"": out += "\\\""
      case "\n": out += "\\n"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}

// MARK: - RecentCounts

// The recent growth of counters. A value; one thread.

/// The growth of counters within the last hour, snapshot by snapshot.
public struct RecentCounts {
  /// The longest window.
  public static let windowMax: Duration = .hours(1)

  private var last: [LabelValues: UInt64] = [:]
  private var steps: [(at: MonotonicInstant, growth: [LabelValues: UInt64])] = []

  public init(
    last: [LabelValues: UInt64] = [:], steps: [(at: MonotonicInstant, growth: [LabelValues: UInt64])] = []
  ) {
    self.last = last
    self.steps = steps
  }

  /// Records the counters' current values.
  public mutating func record(_ counts: [LabelValues: UInt64], now: MonotonicInstant) {
    let growth = counts.filter { $0.value > last[$0.key, default: 0] }
      .reduce(into: [:]) { $0[$1.key] = $1.value - last[$1.key, default: 0] }
    last = counts
    if !growth.isEmpty { steps.append((now, growth)) }
    steps.removeAll { now.duration(since: $0.at) > Self.windowMax }
  }

  /// The growth within this time.
  public func growth(within time: Duration, now: MonotonicInstant) -> [LabelValues: UInt64] {
    steps.filter { now.duration(since: $0.at) < time }
      .reduce(into: [:]) { $0.merge($1.growth, uniquingKeysWith: +) }
  }
}
