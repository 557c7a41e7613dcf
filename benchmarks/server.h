// Shared by the yardsticks' servers: libmicrohttpd with the flags, the limits and the number of threads of our
// HTTPServer, on a port of 127.0.0.1 that the system chooses and that is printed.
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

enum { threads = 2, connections = 2000, body_max = 4096 };

// Any of its threads calls `answer`, and `forget` when a request has ended. NULL when it cannot listen.
static inline struct MHD_Daemon *start_server(MHD_AccessHandlerCallback answer, MHD_RequestCompletedCallback forget) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL,
      answer, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_NOTIFY_COMPLETED, forget, NULL,
      MHD_OPTION_THREAD_POOL_SIZE, (unsigned)threads, MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32 * 1024, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (daemon == NULL) return NULL;
  printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  return daemon;
}

static inline enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}
