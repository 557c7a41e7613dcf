#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// The compiler compares each pointer's type, which is libpq's own declaration, with the call.
#define CPG_DEFINE(result, name, parameters, arguments)                                                      \
  static __typeof__(name) *found_##name;                                                                     \
  result cpg_##name parameters { return found_##name arguments; }
CPG_FUNCTIONS(CPG_DEFINE)
#undef CPG_DEFINE

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;
static char message[256];

static void load(void) {
  // Never closed: OpenSSL, which libpq loads, cannot be unloaded.
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == 0) {
    snprintf(message, sizeof message, "%s", dlerror());
    return;
  }
#define CPG_FIND(result, name, parameters, arguments)                                                        \
  found_##name = (__typeof__(name) *)dlsym(library, #name);                                                  \
  if (found_##name == 0) {                                                                                   \
    snprintf(message, sizeof message, "libpq.so.5 has no function %s", #name);                               \
    return;                                                                                                  \
  }
  CPG_FUNCTIONS(CPG_FIND)
#undef CPG_FIND
  is_loaded = 1;
}

const char *cpg_load(void) {
  pthread_once(&once, load);
  return is_loaded ? 0 : message;
}
