/*
 * Preloaded into a process (LD_PRELOAD): each native module takes long to load, as from a cold disk of a busy machine. Linux only.
 *
 *   SLOW_LOADING_MS     how long
 *   SLOW_LOADING_TRACE  a file that gets a byte when it begins
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void trace(const char *file) {
  int descriptor = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (descriptor < 0) return;
  if (write(descriptor, ".", 1) != 1) abort();
  close(descriptor);
}

void *dlopen(const char *file, int flags) {
  void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  const char *ms = getenv("SLOW_LOADING_MS");
  if (ms && file && strstr(file, ".node")) {
    trace(getenv("SLOW_LOADING_TRACE"));
    usleep(atoi(ms) * 1000);
  }
  return real(file, flags);
}
