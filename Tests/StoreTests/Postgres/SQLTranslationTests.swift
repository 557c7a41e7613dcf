// Tests the translation of the store's statements for PostgreSQL.

import Store
import Testing

@testable import PostgresStore

@Suite("SQL for PostgreSQL")
struct SQLTranslationTests {
  private func translated(_ sql: String, _ values: [StoreValue] = []) -> PostgresCommand {
    SQLTranslation(sql).command(values)
  }

  @Test func `Parameters are numbered in the order of their first use, and unused ones are not sent`() {
    let command = translated("SELECT ?3, ?1, ?3", [1, "unused", 3])
    #expect(command.sql == "SELECT $1, $2, $1")
    #expect(command.values == [.integer(3), .integer(1)])
    #expect(SQLTranslation("SELECT ?3").valueCount == 3)
    let anonymous = translated("a = ? AND b = ?5 LIMIT ?", ["a", "", "", "", "b", 6])
    #expect(anonymous.sql == "a = $1 AND b = $2 LIMIT $3")
    #expect(anonymous.values == [.text("a"), .text("b"), .integer(6)])
  }

  @Test func `NULL is written into the text, because its type cannot be known`() {
    let sql = "INSERT INTO t (a, b, c) VALUES (?1, ?2, coalesce(?1, ?2))"
    let command = translated(sql, [.null, "b"])
    #expect(command.sql == "INSERT INTO t (a, b, c) VALUES (NULL, $1, coalesce(NULL, $1))")
    #expect(command.values == [.text("b")])
  }

  @Test func `IS with a parameter uses an index, for NULL and for any other value`() {
    let sql = "SELECT 1 FROM t WHERE a IS ?1 AND b IS NOT ?2"
    #expect(translated(sql, ["a", "b"]).sql == "SELECT 1 FROM t WHERE a = $1 AND b IS DISTINCT FROM $2")
    #expect(translated(sql, [.null, .null]).sql == "SELECT 1 FROM t WHERE a IS NULL AND b IS NOT NULL")
  }

  @Test(arguments: [
    ("a IS NULL AND b IS NOT NULL", "a IS NULL AND b IS NOT NULL"),
    ("a IS b OR a IS NOT 'x'", "a IS NOT DISTINCT FROM b OR a IS DISTINCT FROM 'x'"),
    ("SELECT a FROM t INDEXED BY t_by_a WHERE b = 1", "SELECT a FROM t WHERE b = 1"),
    ("SELECT a FROM t l INDEXED BY t_by_a JOIN u ON 1", "SELECT a FROM t l JOIN u ON 1"),
    ("WHERE +a = 1 AND (+b = 2 OR +c + 3 = 4)", "WHERE a = 1 AND (b = 2 OR c + 3 = 4)"),
    ("(a) + 1, f(b) + 2, 3 + 4, 'x' + 5", "(a) + 1, f(b) + 2, 3 + 4, 'x' + 5"),
    ("SET a = x'00ff', b = X''", "SET a = '\\x00ff'::bytea, b = '\\x'::bytea"),
    ("SELECT count(*) FROM (SELECT 1)", "SELECT count(*) FROM (SELECT 1) AS subquery_1"),
    ("SELECT 1 FROM (SELECT 1) AS t WHERE 2", "SELECT 1 FROM (SELECT 1) AS t WHERE 2"),
    (
      "SELECT 1 FROM (SELECT 1) t JOIN (SELECT 2)",
      "SELECT 1 FROM (SELECT 1) t JOIN (SELECT 2) AS subquery_1"
    ),
    (
      "FROM (SELECT 1 FROM (SELECT 2) GROUP BY 1)",
      "FROM (SELECT 1 FROM (SELECT 2) AS subquery_1 GROUP BY 1) AS subquery_2"
    ),
    (
      "a IN (SELECT value FROM json_each('[1]'))",
      "a IN (SELECT value FROM (SELECT value::bigint AS value FROM "
        + "jsonb_array_elements_text(('[1]')::jsonb)) AS subquery_1)"
    ),
    ("instr(other_names, 'a') > 0", "strpos(other_names, 'a') > 0"),
    ("json_extract(asked, '$.user') = 1", "((asked)::jsonb ->> substr( '$.user', 3)) = 1"),
    (
      "SET a = json_set(a, '$.b', coalesce('x', 'y'))",
      "SET a = jsonb_set((a)::jsonb, ARRAY[substr( '$.b', 3)], to_jsonb(( coalesce('x', 'y'))::text))::text"
    ),
  ])
  func `Each difference of the dialects`(sqlite: String, postgres: String) {
    #expect(translated(sqlite).sql == postgres)
  }

  @Test func `Rows that are inserted together come from arrays, with NULL where each has it`() {
    let translation = SQLTranslation("INSERT INTO t (a, b, c) VALUES (?2, ?1, ?3 + 1) ON CONFLICT DO NOTHING")
    let command = translation.command(rows: [
      ["b1", "a1", .null], [.null, "a2", .null], ["b3", "a3", .null],
    ])
    #expect(
      command?.sql == "INSERT INTO t (a, b, c) SELECT given.value_1, given.value_2, NULL + 1 "
        + "FROM unnest($1, $2) AS given(value_1, value_2)  ON CONFLICT DO NOTHING")
    #expect(
      command?.values == [.texts(["a1", "a2", "a3"]), .array(of: .text, [.text("b1"), .null, .text("b3")])])
    #expect(translation.command(rows: [["b", "a", 1]]) == nil)
  }

  @Test func `Rows that are changed together are found by their keys`() {
    let translation = SQLTranslation(
      "UPDATE t SET a = a + ?2, b = ?3 WHERE row_id = ?1 AND s IS ?4 AND q IS ?2")
    let command = translation.command(rows: [[1, 2, "b1", .null], [2, .null, "b2", .null]])
    #expect(
      command?.sql == "UPDATE t SET a = a + given.value_1, b = given.value_2 FROM unnest($1, $2, $3) AS "
        + "given(value_1, value_2, value_3) WHERE row_id = given.value_3 AND s IS NULL "
        + "AND q IS NOT DISTINCT FROM given.value_1")
    #expect(
      command?.values
        == [.array(of: .integer, [.integer(2), .null]), .texts(["b1", "b2"]), .integers([1, 2])])
    #expect(translation.joining?.keys == ["row_id": 0])
    #expect(translation.joining?.settings == ["a", "b"])
  }

  @Test(
    "Only an INSERT that changes rows alike, and an UPDATE of a row with one key, can have several",
    arguments: [
      ("INSERT INTO t (a) VALUES (?1)", "t", true),
      ("INSERT INTO t VALUES (?1) ON CONFLICT DO NOTHING", "t", true),
      ("INSERT INTO t (a) VALUES (?1) ON CONFLICT (a) DO UPDATE SET b = ?1", "t", false),
      ("INSERT INTO t (a, b) VALUES (?1, ?2) ON CONFLICT (a) DO UPDATE SET b = t.b + excluded.b", "t", true),
      ("INSERT INTO t (a, b) VALUES ('x', ?1) ON CONFLICT (a) DO UPDATE SET b = excluded.b", "t", false),
      ("INSERT INTO t (a, b) VALUES (?1, ?2) ON CONFLICT (a) DO UPDATE SET a = excluded.b", "t", false),
      ("INSERT INTO t (a) VALUES (?1) RETURNING a", "t", false), ("INSERT INTO t SELECT ?1", "t", false),
      ("INSERT INTO t (a) VALUES ((SELECT max(a) FROM t))", "t", true),
      ("INSERT INTO t (a) VALUES ((SELECT max(a) FROM u))", nil, true),
      ("UPDATE t SET a = ?1", "t", false), ("UPDATE t SET a = ?1 WHERE row_id = ?2", "t", true),
      ("UPDATE t SET a = ?1 WHERE id = ?2 AND (b = 1 OR c = 2)", "t", true),
      ("UPDATE t SET a = ?1 WHERE id = ?2 OR b = 1", "t", false),
      ("UPDATE t SET a = ?1 WHERE id = ?2 RETURNING a", "t", false),
      ("UPDATE t SET a = ?1 WHERE id > ?2", "t", false), ("UPDATE t SET a = ?1 WHERE b = ?2", "t", false),
      ("UPDATE t SET a = 1 WHERE id = ?1 AND EXISTS (SELECT 1 FROM u)", nil, true),
      ("DELETE FROM t WHERE a = ?1", "t", false), ("SELECT a FROM t", nil, false),
    ])
  func joining(sql: String, table: String?, isJoined: Bool) {
    let translation = SQLTranslation(sql)
    #expect((translation.joining != nil) == isJoined)
    #expect(translation.changedTable == table)
    // The order of statements about several tables matters.
    #expect((RowChange(sql, translation) != nil) == (isJoined && table != nil))
  }

  @Test func `Several counts are inserted, or added to those that exist, by one statement`() {
    let translation = SQLTranslation(
      "INSERT INTO t (a, b, c) VALUES (?1, ?2, ?3) ON CONFLICT (b, a) DO UPDATE SET c = t.c + excluded.c")
    #expect(
      translation.command(rows: [["x", 1, 5], ["y", 1, 6]])?.sql
        == "INSERT INTO t (a, b, c) SELECT given.value_1, given.value_2, given.value_3 "
        + "FROM unnest($1, $2, $3) AS given(value_1, value_2, value_3) "
        + " ON CONFLICT (b, a) DO UPDATE SET c = t.c + excluded.c")
    #expect(translation.joining?.conflict == [1, 0])
    #expect(translation.joining?.settings == ["c"])
  }

  @Test func `What is inside a string is not changed`() {
    let sql = "SELECT 'a IS NOT ?1 + x''00'' FROM (', 'it''s', '' FROM t"
    #expect(translated(sql).sql == sql)
    #expect(SQLTranslation(sql).valueCount == 0)
  }

  @Test func `Text that is not SQL is passed on, for the server to refuse`() {
    for sql in ["", "'", "?", "FROM (", "IS", "a IS NOT", "json_each(", "INDEXED", "x'"] {
      let count = SQLTranslation(sql).valueCount
      #expect(translated(sql, count == 1 ? [1] : []).values.count == count, "\(sql)")
    }
  }
}
