// The URL of a PostgreSQL database: what is accepted, and what is shown of it.

import Platform
import Testing

@testable import Config

@Suite struct DatabaseURLTests {
  private func shown(_ text: String) -> String { DatabaseURL(Secret(text)).description }

  private func mistake(_ text: String) -> String? {
    do throws(DatabaseURLParts.Mistake) {
      _ = try DatabaseURLParts(text)
      return nil
    } catch {
      return "\(error.what); \(error.advice)"
    }
  }

  @Test(arguments: [
    "postgres://", "postgresql://", "postgres:///", "postgres:///receipts", "postgres://db",
    "postgres://db/",
    "postgres://db:5433/receipts", "postgres://receiptd@db/receipts", "postgres://receiptd:@db/receipts",
    "postgres://receiptd:a%40b%2Fc%3A@db/receipts", "postgres://u:a:b?c#d,e@db/receipts",
    "postgres://db1,db2:5433,[2001:db8::1],[::1]:5434/receipts?target_session_attrs=read-write",
    "postgres://%2Fvar%2Frun%2Fpostgresql:5433/receipts", "postgres:///receipts?host=/var/run/postgresql",
    "postgres://%40abstract/receipts", "postgres://db?sslmode=verify-full&sslrootcert=/etc/ca.pem&",
    "postgres:///?host=a,b&port=1,2&user=a@b&dbname=r&options=-c%20search_path%3Drelay",
    "postgres://db:/receipts", "postgres://db/r?", "postgres://db/r?a_later_parameter=1",
  ])
  func `Every URL that libpq understands passes unchanged`(text: String) throws {
    #expect(mistake(text) == nil)
    #expect(try DatabaseURL(Secret(text)).reveal() == text)
  }

  @Test(
    "A mistyped URL is a fault that says what to write, and repeats no part of it (R7)",
    arguments: [
      ("postgres:/db/receipts", "must begin with postgres://"),
      ("postgres://receiptd:pass@hidden@db/receipts", "an @ in its host"),
      ("postgres://receiptd:pass/hidden@db/receipts", "a port that is not a number"),
      ("postgres://receiptd:12/hidden@db/receipts", "a / or an @ in the name"),
      ("postgres://receiptd:12/a?b=hidden@db", "an @ in a parameter that libpq does not know"),
      ("postgres://receiptd:12/a?hidden@db/receipts", "a parameter that is not name=value"),
      ("postgres://receiptd:pass%hidden@db/receipts", "a % that two hexadecimal digits do not follow"),
      ("postgres://db/receipts?application_name=50%", "a % that two hexadecimal digits do not follow"),
      ("postgres://db/receipts%00", "a % that two hexadecimal digits do not follow"),
      ("postgres://db:0/receipts", "a port that is not a number from 1 to 65535"),
      ("postgres://db:65536/receipts", "a port that is not a number from 1 to 65535"),
      ("postgres://db:+1/receipts", "a port that is not a number from 1 to 65535"),
      ("postgres://[::1/receipts", "does not end with ]"),
      ("postgres://[::1]x/receipts", "does not end with ]"),
      ("postgres://db/a/b", "a / or an @ in the name of its database"),
      ("postgres://db/a%2Fb", "a / or an @ in the name of its database"),
      ("postgres://db/r?sslmode", "a parameter that is not name=value"),
      ("postgres://db/r?sslmode=a=b", "a parameter that is not name=value"),
      ("postgres://db/r?sslmode=require&&user=a", "a parameter that is not name=value"),
    ])
  func mistyped(text: String, expected: String) throws {
    let message = try #require(mistake(text))
    #expect(message.contains(expected), "\(message)")
    #expect(!message.contains("hidden"))
  }

  @Test(arguments: [
    ("postgres://db/receipts", "postgres://db/receipts"),
    (
      "postgres://receiptd@db1,db2:5433/r?sslmode=require",
      "postgres://receiptd@db1,db2:5433/r?sslmode=require"
    ),
    ("postgres://receiptd:word@db/r", "postgres://receiptd:***@db/r"),
    ("postgres://receiptd:wo:rd?#@db/r", "postgres://receiptd:***@db/r"),
    ("postgres://receiptd:%2F%40@db/r", "postgres://receiptd:***@db/r"),
    ("postgresql:///r?password=word&user=a", "postgresql:///r?password=***&user=a"),
    ("postgres:///r?PassWord=word", "postgres:///r?PassWord=***"),
    ("postgres:///r?p%61ssword=word&ssl%50assword=word", "postgres:///r?p%61ssword=***&ssl%50assword=***"),
    ("postgres:///r?SSLPASSWORD=word&sslkey=/k", "postgres:///r?SSLPASSWORD=***&sslkey=/k"),
    ("postgres:///r?a_later_secret=word", "postgres:///r?a_later_secret=***"),
    ("postgres:///r?scram_client_key=word", "postgres:///r?scram_client_key=***"),
    // What cannot be split safely.
    ("postgres://receiptd:wo/rd@db/r", "postgres://***"),
    ("postgres://receiptd:w@rd@db/r", "postgres://***"),
    ("postgres://receiptd:12/wo?r=d@db/r", "postgres://***"), ("postgres://a%", "postgres://***"),
    ("word", "***"),
  ])
  func `A shown URL has no password (R7)`(text: String, expected: String) {
    #expect(RedactedURL.database(text) == expected)
    #expect(shown(text) == expected)
    #expect("\(DatabasePlace.postgres(DatabaseURL(Secret(text))))" == expected)
  }

  @Test func `No way to print a URL shows its password (R7)`() {
    let url = DatabaseURL(Secret("postgres://receiptd:very-secret@db/r"))
    var dumped = ""
    dump(url, to: &dumped)
    dump(DatabasePlace.postgres(url), to: &dumped)
    #expect(!"\(dumped) \(url) \(String(reflecting: url))".contains("very-secret"))
  }

  @Test func `A password of any characters, encoded or not, never shows (R7)`() {
    var random = SeededGenerator(seed: 7)
    let pieces = ["@", "/", ":", "?", "#", "&", "=", "%", ",", "[", "]", "%2F", "1", "\u{301}"]
    for _ in 0..<5_000 {
      let secret = "SECRET"
      var parts = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        pieces[Int.random(in: pieces.indices, using: &random)]
      }
      parts.insert(secret, at: Int.random(in: 0...parts.count, using: &random))
      // A user name before it, and what may follow.
      let text = "postgres://receiptd:\(parts.joined())@db:5432/receipts?sslmode=require&password=\(secret)"
      let url = DatabaseURL(Secret(text))
      #expect(!url.description.contains(secret), "\(text)")
      #expect(url.withoutPasswords?.contains(secret) != true, "\(text)")
      if let mistake = mistake(text) { #expect(!mistake.contains(secret), "\(text)") }
    }
  }

  @Test func `For the arguments of another program, a URL loses its passwords and keeps the rest`() {
    let text = "postgres://u:p@a,b:1/r?password=x&sslmode=require&SSLpassword=y&connect_timeout=3"
    let url = DatabaseURL(Secret(text))
    #expect(url.withoutPasswords == "postgres://u@a,b:1/r?sslmode=require&connect_timeout=3")
    #expect(url.hasPassword)
    let plain = DatabaseURL(Secret("postgres://u@a/r?sslpassword=y"))
    #expect(plain.withoutPasswords == "postgres://u@a/r")
    #expect(plain.hasPassword)
    #expect(!DatabaseURL(Secret("postgres://u@a/r?sslmode=require")).hasPassword)
  }
}
