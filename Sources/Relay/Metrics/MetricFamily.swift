// Counters and histograms as Prometheus means them
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Small, because the format is; any thread,
// each family under its own lock.

internal import Platform

/// A counter with labels: only goes up.
final class CounterFamily: Sendable {
  let name: String
  let help: String
  let labels: [String]
  private let values = Monitor<[[String]: UInt64]>([:])

  init(_ name: String, _ help: String, labels: [String]) {
    self.name = name
    self.help = help
    self.labels = labels
  }

  /// - Parameter labelValues: in the order of `labels`; chosen by this program from few (R7), never by a
  ///   request.
  func increment(_ labelValues: String...) { values.withLock { $0[labelValues, default: 0] += 1 } }

  func write(to text: inout MetricsText) {
    text.family(name, help, type: "counter")
    for (labelValues, value) in values.withLock({ $0 }).sorted(by: {
      $0.key.lexicographicallyPrecedes($1.key)
    }) {
      text.sample(name, Array(zip(labels, labelValues)), String(value))
    }
  }
}

/// A histogram with fixed buckets and labels.
final class HistogramFamily: Sendable {
  let name: String
  let help: String
  let labels: [String]
  /// Upper bounds, ascending; the last bucket is +Inf.
  let bounds: [Double]
  private let series = Monitor<[[String]: Series]>([:])

  private struct Series {
    var counts: [UInt64]
    var sum = 0.0
  }

  /// 1 ms to 10 s in steps of about three.
  static let secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  init(_ name: String, _ help: String, labels: [String] = [], bounds: [Double]) {
    self.name = name
    self.help = help
    self.labels = labels
    self.bounds = bounds
  }

  func observe(_ value: Double, _ labelValues: String...) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    series.withLock { series in
      series[labelValues, default: Series(counts: Array(repeating: 0, count: bounds.count + 1))].counts[
        bucket] += 1
      series[labelValues]?.sum += value
    }
  }

  func write(to text: inout MetricsText) {
    text.family(name, help, type: "histogram")
    for (labelValues, series) in series.withLock({ $0 }).sorted(by: {
      $0.key.lexicographicallyPrecedes($1.key)
    }) {
      let pairs = Array(zip(labels, labelValues))
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
struct MetricsText {
  private(set) var text = ""

  mutating func family(_ name: String, _ help: String, type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: String) {
    text += name
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += " \(value)\n"
  }

  mutating func gauge(
    _ name: String, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
  ) {
    family(name, help, type: "gauge")
    for sample in samples { self.sample(name, sample.labels, Self.number(sample.value)) }
  }

  /// Whole numbers without a fraction.
  static func number(_ value: Double) -> String {
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
