// Counters and histograms as Prometheus means them
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Small, because the format is; any thread,
// each family under its own lock.

internal import Platform

/// The values of up to three labels. Not an array: that would be an allocation for every count.
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

  /// With the names that belong to them.
  public func pairs(_ names: [String]) -> [(String, String)] { Array(zip(names, [first, second, third])) }
}

/// A counter with labels: only goes up.
public final class CounterFamily: Sendable {
  public let name: String
  public let help: String
  public let labels: [String]
  private let values = Monitor<[LabelValues: UInt64]>([:])

  public init(_ name: String, _ help: String, labels: [String]) {
    self.name = name
    self.help = help
    self.labels = labels
    // One without labels is there from the start.
    if labels.isEmpty { add(0) }
  }

  public func add(_ count: UInt64) { values.withLock { $0[LabelValues(), default: 0] += count } }

  /// - Parameter labelValues: in the order of `labels`; chosen by this program from few (R7), never by a
  ///   request.
  public func increment(_ first: String = "", _ second: String = "", _ third: String = "") {
    let labelValues = LabelValues(first: first, second: second, third: third)
    values.withLock { $0[labelValues, default: 0] += 1 }
  }

  /// Every sample as it stands now.
  public func snapshot() -> [LabelValues: UInt64] { values.withLock { $0 } }

  public func write(to text: inout MetricsText) {
    text.family(name, help, type: "counter")
    for (labelValues, value) in snapshot().sorted(by: { $0.key < $1.key }) {
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

  /// 1 ms to 10 s in steps of about three.
  public static let secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  public init(_ name: String, _ help: String, labels: [String] = [], bounds: [Double]) {
    self.name = name
    self.help = help
    self.labels = labels
    self.bounds = bounds
  }

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

/// Builds the text that a scrape gets.
public struct MetricsText {
  public private(set) var text = ""

  public mutating func family(_ name: String, _ help: String, type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  public mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: String) {
    text += name
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += " \(value)\n"
  }

  public mutating func gauge(
    _ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
  ) {
    family(name, help, type: "gauge")
    for sample in samples { self.sample(name, sample.labels, Self.number(sample.value)) }
  }

  /// Whole numbers without a fraction.
  public static func number(_ value: Double) -> String {
    Int64(exactly: value).map { String($0) } ?? String(value)
  }

  /// Backslash, quotation mark and line feed are escaped in a label's value.
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
