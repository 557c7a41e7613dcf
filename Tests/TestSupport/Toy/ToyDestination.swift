// A second destination. It expresses the toy processor's purchases only. Its registration is in
// DaemonTests/Toy/ToyRegistration.swift.

public import Domain
import Formats
public import Partners

public struct ToyDestination: ReceiptDestination {
  public static let name: DestinationName = "toy_shop"
  public static let help = DestinationHelp(
    settings: ["url", "key"], secret: "key", missing: "Look into the toy box.",
    secondReceipt: "The newer toy counts.")
  public static let keyHeader = "X-Toy-Shop-Key"

  public let url: String
  private let key: String

  public init(url: String, key: String) {
    self.url = url
    self.key = key
  }

  public static func accepts(_ processor: ProcessorName) -> Bool { processor == ToyProcessor.name }

  public func headers(for receipt: OutgoingReceipt) -> [(name: String, value: String)] {
    [("Content-Type", "application/json"), (Self.keyHeader, key)]
  }

  public func body(for receipt: ReceiptContent) -> [UInt8] {
    var members: [JSONValue.Member] = [
      .init(name: "buyer", value: .string(receipt.userID.text)),
      .init(name: "order", value: .string(receipt.key.id.text)),
      .init(name: "article", value: .string(receipt.priceID?.text ?? "")),
    ]
    if let context = receipt.context { members.append(.init(name: "context", value: .string(context))) }
    return JSONValue.object(members).serialized()
  }

  public func verdict(on answer: DeliveryAnswer, now: Timestamp) -> Verdict {
    HTTPVerdict.of(answer, now: now)
  }
}
