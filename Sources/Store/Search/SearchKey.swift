// The numbers by which a search finds events and payments: each stands for the first or the last characters
// of an id, or for an e-mail address. Pure; any thread.

internal import Cryptography
internal import Domain

/// A number for a part of an id. Different ids may have the same number, so what is found by it must be
/// compared with the id.
enum SearchKey {
  /// An id's characters that a number stands for.
  static let characters = 10
  private static let bitsOfCharacter: UInt64 = 6

  private enum Form: UInt64 {
    case head = 0
    case tail = 1
    case address = 2
  }

  /// The numbers of an event or payment.
  /// - Parameter hash: of e-mail addresses.
  static func keys(_ mentions: Mentions, _ hash: AddressHash) -> Set<Int64> {
    var keys: Set<Int64> = []
    for id in mentions.ids {
      let core = Array(IDText.core(id).utf8)
      keys.insert(key(.head, core))
      keys.insert(key(.tail, core.reversed()))
    }
    for address in mentions.addresses { keys.insert(self.key(ofAddress: address, hash)) }
    return keys
  }

  static func key(ofAddress address: String, _ hash: AddressHash) -> Int64 {
    Int64(Form.address.rawValue << 60 | hash.number(address))
  }

  /// The numbers of the ids that begin with a text; only of this id if the text is shorter than `FindQuery`
  /// searches for.
  static func numbers(ofBeginning text: String) -> ClosedRange<Int64> {
    numbers(.head, Array(IDText.core(text).utf8))
  }

  /// The same for the end of ids.
  static func numbers(ofEnd text: String) -> ClosedRange<Int64> {
    numbers(.tail, IDText.core(text).utf8.reversed())
  }

  private static func numbers(_ form: Form, _ characters: [UInt8]) -> ClosedRange<Int64> {
    let first = key(form, characters)
    guard FindQuery.partMin..<Self.characters ~= characters.count else { return first...first }
    let free = UInt64(Self.characters - characters.count) * bitsOfCharacter
    return first...(first | Int64((1 << free) - 1))
  }

  private static func key(_ form: Form, _ characters: [UInt8]) -> Int64 {
    var number = form.rawValue
    for position in 0..<Self.characters {
      // 0 stands for no character: the id ends.
      number = number << bitsOfCharacter | (position < characters.count ? value(characters[position]) : 0)
    }
    return Int64(number)
  }

  /// 1…62 for digits and letters, 63 for others.
  private static func value(_ byte: UInt8) -> UInt64 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0")) + 1
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(byte - UInt8(ascii: "A")) + 11
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt64(byte - UInt8(ascii: "a")) + 37
    default: 63
    }
  }
}

/// The hash of e-mail addresses, with a key of this database. Any thread.
struct AddressHash {
  static let keyBytes = 32

  private let code: HMACSHA256

  init(key: [UInt8]) throws(StoreFault) {
    do throws(CryptographyError) {
      code = try HMACSHA256(key: key)
    } catch {
      throw StoreFault(.outOfMemory, operation: "hash", reason: "out of memory")
    }
  }

  /// 60 bits.
  fileprivate func number(_ address: String) -> UInt64 {
    code.authenticationCode(for: Array(address.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) } >> 4
  }
}
