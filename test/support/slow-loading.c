/*
 * Preloaded into a process (LD_PRELOAD): each native module takes SLOW_LOADING_MS to load, as from a cold disk of a busy machine. Linux only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *dlopen(const char *file, int flags) {
  void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  const char *ms = getenv("SLOW_LOADING_MS");
  if (ms && file && strstr(file, ".node")) usleep(atoi(ms) * 1000);
  return real(file, flags);
}
