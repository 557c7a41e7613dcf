#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast that Swift does not import: bind with a copy made before the call returns.
// https://www.sqlite.org/c3ref/c_static.html
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes,
                                    sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes,
                                    sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
