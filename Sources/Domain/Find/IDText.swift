// The parts of an id: what kind it is of, and what distinguishes it. Pure; any thread.

/// Rules for the texts of ids of any processor.
public enum IDText {
  /// What follows the prefix of an id: `sub_`, `cs_test_`, `/psp/paymentorders/`; all of an id without one.
  public static func core(_ id: String) -> Substring {
    var rest = id[...]
    if let slash = rest.lastIndex(of: "/") { return rest[rest.index(after: slash)...] }
    let kind = rest.prefix { $0 >= "a" && $0 <= "z" }
    if !kind.isEmpty, rest.dropFirst(kind.count).first == "_" { rest = rest.dropFirst(kind.count + 1) }
    for mode in ["test_", "live_"] where rest.hasPrefix(mode) { rest = rest.dropFirst(mode.count) }
    return rest
  }
}
