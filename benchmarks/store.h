// The SQLite part of the yardstick `ingest`: transactions of many events, into one table or into the relay's
// schema. One thread.
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APP "bench"

static sqlite3 *database;
static bool uses_schema;

// The open transaction: its moment in Unix milliseconds, and the rows of its purchases.
static int64_t now, first_row, next_row;

static void fail(const char *what) {
  fprintf(stderr, "ingest: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void execute(const char *sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
}

// Prepares a statement where it is used for the first time.
static sqlite3_stmt *prepared(sqlite3_stmt **statement, const char *sql) {
  if (*statement == NULL &&
      sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
    fail(sql);
  return *statement;
}

static void run(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_sql(statement));
  sqlite3_reset(statement);
}

static void bind_body(sqlite3_stmt *statement, int place, const char *body, size_t size) {
  sqlite3_bind_blob(statement, place, body, (int)size, SQLITE_STATIC);
}

// With receiptd's settings, except that SQLite runs the checkpoints and deleted content is not overwritten.
static void open_store(const char *path) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (uses_schema ? 0 : SQLITE_OPEN_CREATE);
  if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK) fail(path);
  execute("PRAGMA foreign_keys = ON; PRAGMA cache_size = -3072; PRAGMA journal_mode = WAL;"
          "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864");
  // What a plain schema has: an index for each id. receiptd keeps these ids in `keys` instead.
  if (uses_schema)
    execute("CREATE INDEX IF NOT EXISTS purchases_by_session ON purchases (session_id, app)"
            " WHERE session_id <> object_id;"
            "CREATE INDEX IF NOT EXISTS purchases_by_customer ON purchases (customer_id, app)"
            " WHERE customer_id IS NOT NULL;"
            "CREATE INDEX IF NOT EXISTS purchases_by_user ON purchases (user_id, app)"
            " WHERE user_id IS NOT NULL;"
            "CREATE INDEX IF NOT EXISTS contexts_by_user ON contexts (user_id, app, posted_at)");
  if (!uses_schema)
    execute("CREATE TABLE events (row_id INTEGER PRIMARY KEY, received_at INTEGER, body BLOB) STRICT;"
            "CREATE TABLE contexts (row_id INTEGER PRIMARY KEY, received_at INTEGER, body BLOB) STRICT");
}

// MARK: append

static void append(bool is_context, const char *body, size_t size) {
  static sqlite3_stmt *inserting[2];
  sqlite3_stmt *insert = prepared(&inserting[is_context],
                                  is_context ? "INSERT INTO contexts (received_at, body) VALUES (?1, ?2)"
                                             : "INSERT INTO events (received_at, body) VALUES (?1, ?2)");
  sqlite3_bind_int64(insert, 1, now);
  bind_body(insert, 2, body, size);
  run(insert);
}

// MARK: schema

// A part of an event's text; `bytes` is NULL when the event has none.
struct part {
  const char *bytes;
  int size;
};

// The fields of a paid checkout that the join needs.
struct checkout {
  struct part event, session, user, customer, blob, subscription, price;
  int64_t happened_at;
  unsigned char decoded[4096];  // the blob's JSON, of which the price is a part
};

// The text behind `key` up to the next quotation mark.
static struct part text_behind(const char *key, const char *from, const char *end) {
  const char *found = memmem(from, (size_t)(end - from), key, strlen(key));
  if (found == NULL) return (struct part){0};
  found += strlen(key);
  const char *quote = memchr(found, '"', (size_t)(end - found));
  return quote == NULL ? (struct part){0} : (struct part){found, (int)(quote - found)};
}

static bool read_price(struct checkout *checkout) {
  if (checkout->blob.bytes == NULL || (size_t)checkout->blob.size > sizeof checkout->decoded) return false;
  const unsigned char *blob = (const unsigned char *)checkout->blob.bytes;
  int size = EVP_DecodeBlock(checkout->decoded, blob, checkout->blob.size);
  if (size < 0) return false;
  const char *json = (const char *)checkout->decoded;
  checkout->price = text_behind("\"stripe_price_id\": \"", json, json + size);
  return checkout->price.bytes != NULL;
}

static bool read_checkout(struct checkout *checkout, const char *body, size_t size) {
  const char *end = body + size, *object = memmem(body, size, "\"object\": {", 11);
  const char *created = memmem(body, size, "\"created\": ", 11);
  if (object == NULL || created == NULL) return false;
  checkout->happened_at = atoll(created + 11) * 1000;
  checkout->event = text_behind("\"id\": \"", body, object);
  checkout->session = text_behind("\"id\": \"", object, end);
  checkout->user = text_behind("\"client_reference_id\": \"", object, end);
  checkout->customer = text_behind("\"customer\": \"", object, end);
  checkout->blob = text_behind("\"ply_context\": \"", object, end);
  checkout->subscription = text_behind("\"subscription\": \"", object, end);
  return checkout->event.bytes != NULL && checkout->session.bytes != NULL && checkout->user.bytes != NULL &&
         checkout->customer.bytes != NULL && checkout->subscription.bytes != NULL && read_price(checkout);
}

static void bind_part(sqlite3_stmt *statement, int place, struct part part) {
  sqlite3_bind_text(statement, place, part.bytes, part.size, SQLITE_STATIC);
}

// Finds nothing, because the benchmark sends only new ids.
static void look_up(sqlite3_stmt **statement, const char *sql, struct part first, struct part second) {
  sqlite3_stmt *select = prepared(statement, sql);
  bind_part(select, 1, first);
  if (second.bytes != NULL) bind_part(select, 2, second);
  run(select);
}

// The lookups of receiptd for a new purchase.
static void look_all_up(const struct checkout *checkout) {
  static sqlite3_stmt *event, *subscription, *session, *sold, *context, *customer;
  const struct part none = {0};
  look_up(&event, "SELECT 1 FROM events WHERE event_id = ?1 AND app = '" APP "' AND processor = 'stripe'",
          checkout->event, none);
  look_up(&subscription,
          "SELECT * FROM purchases WHERE object_id = ?1 AND app = '" APP "' AND object_type = 'subscription'",
          checkout->subscription, none);
  look_up(&session,
          "SELECT * FROM purchases WHERE object_id = ?1 AND app = '" APP "' AND object_type = 'checkout_session'",
          checkout->session, none);
  look_up(&sold,
          "SELECT * FROM purchases WHERE session_id = ?1 AND session_id <> object_id AND app = '" APP "'"
          " AND object_type = 'subscription' LIMIT 1",
          checkout->session, none);
  look_up(&context,
          "SELECT * FROM (SELECT * FROM contexts WHERE app = '" APP "' AND user_id = ?1"
          " ORDER BY posted_at DESC LIMIT 200) WHERE ply_context = ?2 AND purchase_row IS NOT 0",
          checkout->user, checkout->blob);
  look_up(&customer,
          "SELECT * FROM purchases WHERE customer_id = ?1 AND app = '" APP "' AND user_id IS NULL"
          " ORDER BY row_id DESC LIMIT 200",
          checkout->customer, none);
}

static void write_base32(char *text, uint64_t number, int width) {
  for (int place = width - 1; place >= 0; place -= 1, number /= 32)
    text[place] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number % 32];
}

// A receipt's id: `rcp_`, 10 digits of the moment, 8 of the row and 8 random ones.
static void make_receipt_id(char *text) {
  uint64_t random;
  sqlite3_randomness(sizeof random, &random);
  memcpy(text, "rcp_", 4);
  write_base32(text + 4, (uint64_t)now, 10);
  write_base32(text + 14, (uint64_t)next_row, 8);
  write_base32(text + 22, random, 8);
}

// Composes the receipt for Purchasely. Returns its length.
static int compose(const struct checkout *checkout, char *text, size_t room) {
  int size = snprintf(text, room,
                      "{\"user_id\":\"%.*s\",\"stripe_object_type\":\"subscription\",\"stripe_object_id\":\"%.*s\","
                      "\"stripe_price_id\":\"%.*s\",\"ply_context\":\"%.*s\"}",
                      checkout->user.size, checkout->user.bytes, checkout->subscription.size,
                      checkout->subscription.bytes, checkout->price.size, checkout->price.bytes, checkout->blob.size,
                      checkout->blob.bytes);
  if (size < 0 || (size_t)size >= room) fail("a receipt is too long");
  return size;
}

static void insert_purchase(const struct checkout *checkout) {
  static sqlite3_stmt *inserting;
  sqlite3_stmt *insert = prepared(
      &inserting,
      "INSERT INTO purchases (row_id, app, object_type, object_id, session_id, observations, customer_id, user_id,"
      " user_source, prices, prices_of_checkout, ply_context, context_price_id, context_source, happened_at,"
      " first_seen_at, bought_at, updated_at, receipt_id, state, price_id, body, created_at, ready_at, retry_since,"
      " next_attempt_at) VALUES (?1, '" APP "', 'subscription', ?2, ?3, 1, ?4, ?5, 2, '', 0, ?6, ?7, 1, ?8,"
      " ?9, ?9, ?9, ?10, 'pending', ?7, ?11, ?9, ?9, ?9, ?9)");
  char id[30], body[4096];
  make_receipt_id(id);
  sqlite3_bind_int64(insert, 1, next_row);
  bind_part(insert, 2, checkout->subscription);
  bind_part(insert, 3, checkout->session);
  bind_part(insert, 4, checkout->customer);
  bind_part(insert, 5, checkout->user);
  bind_part(insert, 6, checkout->blob);
  bind_part(insert, 7, checkout->price);
  sqlite3_bind_int64(insert, 8, checkout->happened_at);
  sqlite3_bind_int64(insert, 9, now);
  sqlite3_bind_text(insert, 10, id, sizeof id, SQLITE_STATIC);
  bind_body(insert, 11, body, (size_t)compose(checkout, body, sizeof body));
  run(insert);
}

static void insert_event(struct part id, const char *body, size_t size) {
  static sqlite3_stmt *inserting;
  sqlite3_stmt *insert = prepared(
      &inserting,
      "INSERT INTO events (app, processor, event_id, type, outcome, received_at, purchase_row, body)"
      " VALUES ('" APP "', 'stripe', ?1, 'checkout.session.completed', 'receipt', ?2, ?3, ?4)");
  bind_part(insert, 1, id);
  sqlite3_bind_int64(insert, 2, now);
  sqlite3_bind_int64(insert, 3, next_row);
  bind_body(insert, 4, body, size);
  run(insert);
}

static void join(const char *body, size_t size) {
  static struct checkout checkout;
  if (!read_checkout(&checkout, body, size)) fail("this event is not the benchmark's");
  look_all_up(&checkout);
  insert_purchase(&checkout);
  insert_event(checkout.event, body, size);
  next_row += 1;
}

// The next purchase's row: once for each transaction.
static void read_next_row(void) {
  static sqlite3_stmt *selecting;
  sqlite3_stmt *select = prepared(&selecting, "SELECT next FROM sequences WHERE name = 'purchases'");
  if (sqlite3_step(select) != SQLITE_ROW) fail(sqlite3_sql(select));
  first_row = next_row = sqlite3_column_int64(select, 0);
  sqlite3_reset(select);
}

// The next purchase's row, and how many receipts are pending: once for each transaction.
static void write_counts(void) {
  static sqlite3_stmt *numbering, *counting;
  sqlite3_bind_int64(prepared(&numbering, "UPDATE sequences SET next = ?1 WHERE name = 'purchases'"), 1, next_row);
  run(numbering);
  prepared(&counting, "INSERT INTO receipt_counts (app, state, reason, last_cause, processor, count) VALUES ('" APP
                      "', 'pending', '', '', 'stripe', ?1)"
                      " ON CONFLICT (app, state, reason, last_cause, processor) DO UPDATE SET count = count + ?1");
  sqlite3_bind_int64(counting, 1, next_row - first_row);
  run(counting);
}

// MARK: transactions

static void begin(void) {
  static sqlite3_stmt *beginning;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  now = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
  run(prepared(&beginning, "BEGIN IMMEDIATE"));
  if (uses_schema) read_next_row();
}

static void store(bool is_context, const char *body, size_t size) {
  if (uses_schema) join(body, size);
  else append(is_context, body, size);
}

// Everything since `begin` is on the disk afterwards.
static void commit(void) {
  static sqlite3_stmt *committing;
  if (uses_schema) write_counts();
  run(prepared(&committing, "COMMIT"));
}
