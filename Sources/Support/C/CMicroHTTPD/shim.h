// GNU libmicrohttpd for Swift: the functions with variable arguments, which Swift cannot call, as typed ones.
#pragma once
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/// Takes one message of the library. `text` ends in a zero byte and is borrowed for the call.
typedef void (*CMicroHTTPDLogger)(void *context, const char *text);

/// The options of MHD_start_daemon. Must outlive the daemon: the logger reads it, and so may TLS.
struct CMicroHTTPDOptions {
  unsigned int flags;
  unsigned int threads;
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
    // The Acceptor, which adds connections, counts them.
    {MHD_OPTION_CONNECTION_LIMIT, INT_MAX, NULL},
    {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)o->idleTimeoutSeconds, NULL},
    {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)o->connectionMemory, NULL},
    {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)o->connection, o->context},
    {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)o->target, o->context},
    {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)o->completed, o->context},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
    {MHD_OPTION_END, 0, NULL},
  };
  struct MHD_OptionItem *next = items + 7;
  if (o->threads > 1) {
    *next++ = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)o->threads, NULL};
  }
  if (o->certificate && o->key) {
    *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, o->certificate};
    *next++ = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, o->key};
    // RFC 8996: TLS 1.0 and 1.1 must not be negotiated. GnuTLS enables them by default.
    *next++ = (struct MHD_OptionItem){
        MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
  }
  return MHD_start_daemon(
      o->flags, 0, NULL, NULL, o->request, o->context, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

/// How many connections a daemon serves; -1 if that is not known.
static inline long CMicroHTTPD_connectionCount(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info ? (long)info->num_connections : -1;
}

/// The connection's file descriptor, or -1.
static inline MHD_socket CMicroHTTPD_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// The bytes of the request line and the header fields with their line ends, which begin at the method. 0
/// before all of them have arrived.
static inline size_t CMicroHTTPD_headBytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

/// The bytes of the connection's memory that the request's head uses: the head, a record for each field and
/// each cookie (memorypool.c and connection.c of 0.9.75), and a copy of the cookies.
static inline size_t CMicroHTTPD_headMemory(struct MHD_Connection *connection) {
  int records = MHD_get_connection_values(
      connection, (enum MHD_ValueKind)(MHD_HEADER_KIND | MHD_COOKIE_KIND), NULL, NULL);
  const char *cookies =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE);
  return CMicroHTTPD_headBytes(connection) + 64 * (size_t)records + (cookies ? strlen(cookies) : 0);
}

/// Ends the query before its first parameter, so that libmicrohttpd reads none. It would need memory for
/// each, and without memory it answers nothing (connection.c of 0.9.75, parse_initial_message_line).
/// `target` is in the connection's own buffer.
static inline void CMicroHTTPD_dropQuery(const char *target) {
  char *mark = strchr(target, '?');
  if (mark) mark[1] = '\0';
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

/// The start of the kernel's `struct tcp_info`. linux/tcp.h cannot be included beside netinet/tcp.h, whose
/// structure ends before the count. The kernel only ever appends to it.
struct CMicroHTTPDTransport {
  uint8_t state;
  uint8_t flags[7];
  uint32_t values[24];
  uint64_t rates[2];
  uint64_t bytesAcknowledged;
  uint64_t bytesReceived;
};

/// The bytes that the other side of a TCP socket has sent and the kernel has received, read or not (RFC 4898,
/// tcpEStatsAppHCThruOctetsReceived). -1 on any other socket and on kernels before 4.1.
static inline int64_t CMicroHTTPD_bytesReceived(int socket) {
  struct CMicroHTTPDTransport info;
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info) return -1;
  // The end of the input takes a number of the sequence, too.
  int hasEnded = info.state == TCP_CLOSE_WAIT || info.state == TCP_LAST_ACK || info.state == TCP_CLOSING ||
                 info.state == TCP_TIME_WAIT;
  return (int64_t)info.bytesReceived - (hasEnded && info.bytesReceived > 0);
}

/// accept4(2), which sys/socket.h shows only to those who define _GNU_SOURCE.
int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags);

/// The response has neither a length nor chunks, and the connection ends with it.
static inline enum MHD_Result CMicroHTTPD_endConnection(struct MHD_Response *response) {
  return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

// What a reader of content returns, and the size of content that is not known. They are casts, which Swift
// cannot read.
static const ssize_t CMicroHTTPD_endOfStream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t CMicroHTTPD_endWithError = MHD_CONTENT_READER_END_WITH_ERROR;
static const uint64_t CMicroHTTPD_sizeUnknown = MHD_SIZE_UNKNOWN;

// epoll(7), whose events have a union for their data.

/// Reports `ticket` once, when the other side of the socket has closed or shut down its side.
static inline int CMicroHTTPD_watchHangUp(int set, int socket, uint64_t ticket) {
  struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = ticket};
  return epoll_ctl(set, EPOLL_CTL_ADD, socket, &event);
}

/// Reports `ticket` while there is input.
static inline int CMicroHTTPD_watchInput(int set, int descriptor, uint64_t ticket) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = ticket};
  return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

static inline int CMicroHTTPD_unwatch(int set, int descriptor) {
  return epoll_ctl(set, EPOLL_CTL_DEL, descriptor, NULL);
}

/// Waits for events without an end; 64 tickets are taken at most.
static inline int CMicroHTTPD_waitForEvents(int set, uint64_t *tickets, int max) {
  struct epoll_event events[64];
  int count = epoll_wait(set, events, max < 64 ? max : 64, -1);
  for (int i = 0; i < count; i++) tickets[i] = events[i].data.u64;
  return count;
}
