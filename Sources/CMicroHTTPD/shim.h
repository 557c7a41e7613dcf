// GNU libmicrohttpd for Swift: the functions with variable arguments, which Swift cannot call, as typed ones.
#pragma once
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>

/// Takes one message of the library. `text` ends in a zero byte and is borrowed for the call.
typedef void (*CMicroHTTPDLogger)(void *context, const char *text);

/// What MHD_start_daemon is told. Must outlive the daemon: the logger reads it, and so may TLS.
struct CMicroHTTPDOptions {
  unsigned int flags;
  MHD_socket listener;
  unsigned int threads;
  unsigned int connections;
  unsigned int connectionsPerAddress;
  unsigned int idleTimeoutSeconds;
  size_t connectionMemory;
  char *certificate;  // PEM, or null
  char *key;          // PEM, or null
  void *context;      // handed to every callback
  CMicroHTTPDLogger log;
  MHD_NotifyConnectionCallback connection;
  void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback request;
  MHD_RequestCompletedCallback completed;
};

static void CMicroHTTPD_log(void *options, const char *format, va_list arguments) {
  const struct CMicroHTTPDOptions *known = options;
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  known->log(known->context, text);
}

static inline struct MHD_Daemon *CMicroHTTPD_start(struct CMicroHTTPDOptions *o) {
  // The logger comes first, or messages about the other options would go to stderr. What is optional takes
  // the place of an end mark.
  struct MHD_OptionItem items[] = {
    {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)CMicroHTTPD_log, o},
    {MHD_OPTION_LISTEN_SOCKET, (intptr_t)o->listener, NULL},
    {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)o->connections, NULL},
    {MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)o->connectionsPerAddress, NULL},
    {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)o->idleTimeoutSeconds, NULL},
    {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)o->connectionMemory, NULL},
    {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
    {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)o->connection, o->context},
    {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)o->target, o->context},
    {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)o->completed, o->context},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
  };
  struct MHD_OptionItem *next = items + 10;
  if (o->threads > 1) {
    *next++ = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)o->threads, NULL};
  }
  if (o->certificate && o->key) {
    *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, o->certificate};
    *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, o->key};
  }
  return MHD_start_daemon(
      o->flags, 0, NULL, NULL, o->request, o->context, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

/// The connection's file descriptor, or -1.
static inline MHD_socket CMicroHTTPD_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// Who connected, or null. Valid as long as the connection.
static inline const struct sockaddr *CMicroHTTPD_clientAddress(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

/// What the callback for connections left in `socket_context`, or null.
static inline void *CMicroHTTPD_socketContext(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}
