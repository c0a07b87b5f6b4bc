/*
 * Preloaded into a process (LD_PRELOAD): counts what it changes below one directory, and does harm at one of these changes.
 * SQLite and Node both end in these functions of the C library. Linux only.
 *
 *   FAULT_BELOW  directory (a real path)
 *   FAULT_AT     the number of the change, from 1
 *   FAULT_OF     counts only such changes: "write store.db-wal"
 *   FAULT_DO     eio, enospc: it fails; kill: the process is killed before it; tear: after half of it; kill-after: after it
 *   FAULT_LASTS  set: each later change fails too
 *   FAULT_TRACE  a file that gets a line for each change: "write store.db-wal"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))next_of(#name))

static atomic_long changes;

static void *next_of(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

static int is_below(const char *path) {
  const char *top = getenv("FAULT_BELOW");
  size_t length = top ? strlen(top) : 0;
  return length > 0 && strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static void trace(const char *line) {
  const char *file = getenv("FAULT_TRACE");
  if (!file) return;
  long descriptor = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  syscall(SYS_write, descriptor, line, strlen(line));
  syscall(SYS_close, descriptor);
}

static _Noreturn void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

enum harm { NONE, FAIL, TEAR, KILL_AFTER };

/* What is to happen to this change of `path`. */
static enum harm harm_to(const char *operation, const char *path) {
  if (!is_below(path)) return NONE;
  char line[512];
  const char *slash = strrchr(path, '/');
  int length = snprintf(line, sizeof line - 1, "%s %.400s", operation, slash ? slash + 1 : path);
  const char *of = getenv("FAULT_OF");
  int counts = !of || strcmp(of, line) == 0;
  strcpy(line + length, "\n");
  trace(line);
  const char *at = getenv("FAULT_AT");
  const char *harm = getenv("FAULT_DO");
  if (!counts || !at || !harm) return NONE;
  long number = atomic_fetch_add(&changes, 1) + 1;
  long wanted = atol(at);
  if (number != wanted && !(getenv("FAULT_LASTS") && number > wanted)) return NONE;
  if (strcmp(harm, "kill") == 0) die();
  if (strcmp(harm, "tear") == 0) return TEAR;
  if (strcmp(harm, "kill-after") == 0) return KILL_AFTER;
  errno = strcmp(harm, "enospc") == 0 ? ENOSPC : EIO;
  return FAIL;
}

static enum harm harm_to_open(const char *operation, int descriptor) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return NONE;
  path[length] = '\0';
  return harm_to(operation, path);
}

/* For changes that can't be done by half. */
#define WHOLE(judged, call)       \
  do {                            \
    enum harm meant = (judged);   \
    if (meant == FAIL) return -1; \
    if (meant == NONE) return (call); \
    (void)!(call);                \
    die();                        \
  } while (0)

#define PART(judged, call, half)  \
  do {                            \
    enum harm torn = (judged);    \
    if (torn == TEAR) {           \
      (void)!(half);              \
      die();                      \
    }                             \
    WHOLE(torn, call);            \
  } while (0)

ssize_t write(int fd, const void *bytes, size_t count) {
  PART(harm_to_open("write", fd), REAL(write)(fd, bytes, count), REAL(write)(fd, bytes, count / 2));
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  PART(harm_to_open("write", fd), REAL(pwrite)(fd, bytes, count, at), REAL(pwrite)(fd, bytes, count / 2, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  PART(harm_to_open("write", fd), REAL(pwrite64)(fd, bytes, count, at), REAL(pwrite64)(fd, bytes, count / 2, at));
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  WHOLE(harm_to_open("write", fd), REAL(writev)(fd, pieces, count));
}

int fsync(int fd) {
  WHOLE(harm_to_open("sync", fd), REAL(fsync)(fd));
}

int fdatasync(int fd) {
  WHOLE(harm_to_open("sync", fd), REAL(fdatasync)(fd));
}

int ftruncate(int fd, off_t length) {
  WHOLE(harm_to_open("truncate", fd), REAL(ftruncate)(fd, length));
}

int ftruncate64(int fd, off64_t length) {
  WHOLE(harm_to_open("truncate", fd), REAL(ftruncate64)(fd, length));
}

int rename(const char *from, const char *to) {
  WHOLE(harm_to("rename", to), REAL(rename)(from, to));
}

int unlink(const char *path) {
  WHOLE(harm_to("unlink", path), REAL(unlink)(path));
}

int mkdir(const char *path, mode_t mode) {
  WHOLE(harm_to("mkdir", path), REAL(mkdir)(path, mode));
}

static enum harm harm_to_new(const char *path, int flags) {
  return (flags & O_CREAT) && faccessat(AT_FDCWD, path, F_OK, 0) != 0 ? harm_to("create", path) : NONE;
}

static mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  WHOLE(harm_to_new(path, flags), REAL(open)(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = mode_of(flags, more);
  va_end(more);
  WHOLE(harm_to_new(path, flags), REAL(open64)(path, flags, mode));
}
