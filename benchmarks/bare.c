// The yardstick: libmicrohttpd with the flags and the number of threads of our HTTPServer, answering "ok" once
// a request's body has been read. No signature, no JSON, no disk. Also the destination of the benchmark's
// receipts, for nothing is cheaper.
//
// Listens on 127.0.0.1, prints the port that the system chose, and ends when its stdin does.
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { threads = 2, connections = 2000 };

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *target,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **request) {
  static int begun;
  (void)context, (void)target, (void)method, (void)version, (void)data;
  if (*request == NULL) {  // the headers alone; an answer now would close the connection
    *request = &begun;
    return MHD_YES;
  }
  if (*size > 0) {
    *size = 0;
    return MHD_YES;
  }
  struct MHD_Response *response = MHD_create_response_from_buffer(2, "ok", MHD_RESPMEM_MUST_COPY);
  enum MHD_Result result = MHD_queue_response(connection, 200, response);
  MHD_destroy_response(response);
  return result;
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL,
      answer, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE,
      (unsigned)threads, MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      (size_t)32 * 1024, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (daemon == NULL) return 1;
  printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  char unused[64];
  while (read(STDIN_FILENO, unused, sizeof unused) > 0) {
  }
  MHD_stop_daemon(daemon);
  return 0;
}
