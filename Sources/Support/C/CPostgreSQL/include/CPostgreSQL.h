// libpq (https://www.postgresql.org/docs/15/libpq.html), loaded at run time: a relay that uses SQLite needs
// no libpq and spends no memory on it. Each function has the name, the parameters and the meaning of libpq's
// own, after the prefix cpg_. They may be called only after cpg_load() has returned 0.
#pragma once
#include <postgresql/libpq-fe.h>

// X(result, name, parameters, arguments)
#define CPG_FUNCTIONS(X)                                                                                     \
  X(PGconn *, PQconnectStartParams, (const char *const *words, const char *const *values, int expand),      \
    (words, values, expand))                                                                                 \
  X(PostgresPollingStatusType, PQconnectPoll, (PGconn * c), (c))                                             \
  X(PQconninfoOption *, PQconninfoParse, (const char *text, char **error), (text, error))                    \
  X(PQconninfoOption *, PQconndefaults, (void), ())                                                          \
  X(void, PQconninfoFree, (PQconninfoOption * options), (options))                                           \
  X(void, PQfinish, (PGconn * c), (c))                                                                       \
  X(void, PQfreemem, (void *memory), (memory))                                                               \
  X(ConnStatusType, PQstatus, (const PGconn *c), (c))                                                        \
  X(char *, PQhost, (const PGconn *c), (c))                                                                  \
  X(char *, PQport, (const PGconn *c), (c))                                                                  \
  X(int, PQsocket, (const PGconn *c), (c))                                                                   \
  X(char *, PQerrorMessage, (const PGconn *c), (c))                                                          \
  X(int, PQserverVersion, (const PGconn *c), (c))                                                            \
  X(PGTransactionStatusType, PQtransactionStatus, (const PGconn *c), (c))                                    \
  X(const char *, PQparameterStatus, (const PGconn *c, const char *name), (c, name))                         \
  X(int, PQsslInUse, (PGconn * c), (c))                                                                      \
  X(PGVerbosity, PQsetErrorVerbosity, (PGconn * c, PGVerbosity verbosity), (c, verbosity))                   \
  X(int, PQsetnonblocking, (PGconn * c, int is), (c, is))                                                    \
  X(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn * c, PQnoticeReceiver receiver, void *context),           \
    (c, receiver, context))                                                                                  \
  X(int, PQenterPipelineMode, (PGconn * c), (c))                                                             \
  X(int, PQpipelineSync, (PGconn * c), (c))                                                                  \
  X(int, PQsendQueryParams,                                                                                  \
    (PGconn * c, const char *command, int count, const Oid *types, const char *const *values,               \
     const int *lengths, const int *formats, int resultFormat),                                              \
    (c, command, count, types, values, lengths, formats, resultFormat))                                      \
  X(int, PQflush, (PGconn * c), (c))                                                                         \
  X(int, PQconsumeInput, (PGconn * c), (c))                                                                  \
  X(int, PQisBusy, (PGconn * c), (c))                                                                        \
  X(PGresult *, PQgetResult, (PGconn * c), (c))                                                              \
  X(PGnotify *, PQnotifies, (PGconn * c), (c))                                                               \
  X(void, PQclear, (PGresult * r), (r))                                                                      \
  X(ExecStatusType, PQresultStatus, (const PGresult *r), (r))                                                \
  X(char *, PQresultErrorField, (const PGresult *r, int field), (r, field))                                  \
  X(int, PQntuples, (const PGresult *r), (r))                                                                \
  X(int, PQnfields, (const PGresult *r), (r))                                                                \
  X(Oid, PQftype, (const PGresult *r, int column), (r, column))                                              \
  X(char *, PQcmdStatus, (PGresult * r), (r))                                                                \
  X(char *, PQcmdTuples, (PGresult * r), (r))                                                                \
  X(int, PQgetisnull, (const PGresult *r, int row, int column), (r, row, column))                            \
  X(char *, PQgetvalue, (const PGresult *r, int row, int column), (r, row, column))                          \
  X(int, PQgetlength, (const PGresult *r, int row, int column), (r, row, column))

#define CPG_DECLARE(result, name, parameters, arguments) result cpg_##name parameters;
CPG_FUNCTIONS(CPG_DECLARE)
#undef CPG_DECLARE

// Loads libpq, once; thread-safe. Returns 0, or why it could not be loaded: the loader's message
// (dlerror(3)), or the name of a function that the library lacks (pipelines came with PostgreSQL 14).
const char *cpg_load(void);
