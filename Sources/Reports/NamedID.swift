// An id that a text has in it, so that a page can lead to what it names. Pure; called from any thread.

public import Domain

/// An id, and what it is the id of.
public enum NamedID: Sendable, Equatable {
  case receipt(ReceiptID)
  case context(ContextID)
  case event(EventID)
  case job(JobID)
  case user(UserID)
  case customer(CustomerID)
  case session(SessionID)
  /// A purchase, by the processor's id.
  case object(ObjectID)
  case price(PriceID)
  case importID(String)

  public var text: String {
    switch self {
    case .receipt(let id): id.text
    case .context(let id): id.text
    case .event(let id): id.text
    case .job(let id): id.text
    case .user(let id): id.text
    case .customer(let id): id.text
    case .session(let id): id.text
    case .object(let id): id.text
    case .price(let id): id.text
    case .importID(let id): id
    }
  }
}
