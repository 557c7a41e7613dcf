// The proxy for requests to other hosts, from the environment. Pure.
//
// libcurl would read the same variables (libcurl-env(3)), but does not say which proxy it used
// (CURLINFO_USED_PROXY came with 8.7), and messages must name the one that failed.

public import Platform

/// The proxy that the environment names, and the hosts that need none.
public struct ProxySettings: Sendable, Equatable {
  /// The variables, in the order in which they are searched. Requests to other hosts use https only, so
  /// `http_proxy` has no effect.
  public static let proxyVariables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
  public static let exceptionVariables = ["no_proxy", "NO_PROXY"]

  /// As the variable has it, with any credentials.
  let url: String?
  /// The hosts that are reached without the proxy, as the variable has them.
  public let exceptions: String?

  /// Those of this process.
  public static var ofProcess: ProxySettings { ProxySettings(.process) }

  public init(_ environment: Environment) {
    func first(_ names: [String]) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    url = first(Self.proxyVariables)
    exceptions = url == nil ? nil : first(Self.exceptionVariables)
  }

  /// Host and port of the proxy, without scheme and credentials (R7); nil without a proxy.
  public var address: String? {
    guard var rest = url?[...] else { return nil }
    if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
    rest = rest.prefix { $0 != "/" }
    return String(rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest)
  }

  /// For people: `proxy.example:3128 (not for: .internal)`; nil without a proxy.
  public var text: String? {
    address.map { address in exceptions.map { "\(address) (not for: \($0))" } ?? address }
  }

  /// Whether a request to a host goes through the proxy.
  /// - Parameter host: a name, or an address with or without brackets.
  public func applies(to host: String) -> Bool {
    guard url != nil else { return false }
    let host = host.lowercased().filter { $0 != "[" && $0 != "]" }
    let address = IPAddress(host)
    let entries = (exceptions ?? "").lowercased().split { $0 == "," || $0.isWhitespace }
    return !entries.contains { entry in
      if entry == "*" { return true }
      if let address { return AddressPrefix(String(entry))?.contains(address) ?? false }
      return Self.domain(host).hasSuffix(Self.domain(entry))
    }
  }

  /// With one leading dot and no trailing one, so that an entry matches the name and its subdomains
  /// (CURLOPT_NOPROXY(3)).
  private static func domain(_ name: some StringProtocol) -> String {
    var name = name.drop { $0 == "." }
    if name.last == "." { name = name.dropLast() }
    return "." + name
  }
}
