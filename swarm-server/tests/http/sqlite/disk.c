/* Preloaded into a server. The content of the file that SWARM_TEST_DISK names decides how writes to the store
   fail: "full" or "read-only"; with any other content they succeed. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The error that a write to this file fails with, or 0. */
static int fault(int file) {
    char link[64], path[4096], mode[16] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t end = readlink(link, path, sizeof path - 1);
    if (end < 0) return 0;
    path[end] = 0;
    if (strstr(path, "swarm.db") == NULL) return 0;
    int disk = open(getenv("SWARM_TEST_DISK"), O_RDONLY | O_CLOEXEC);
    if (disk < 0 || read(disk, mode, sizeof mode - 1) < 0) abort();
    close(disk);
    if (strcmp(mode, "full") == 0) return ENOSPC;
    if (strcmp(mode, "read-only") == 0) return EROFS;
    return 0;
}

#define unless_faulty(file, call)           \
    do {                                    \
        int failed = fault(file);           \
        if (failed) {                       \
            errno = failed;                 \
            return -1;                      \
        }                                   \
        return call;                        \
    } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
    unless_faulty(file, syscall(SYS_write, file, bytes, count));
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    unless_faulty(file, syscall(SYS_pwrite64, file, bytes, count, at));
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    unless_faulty(file, syscall(SYS_pwrite64, file, bytes, count, at));
}

int ftruncate(int file, off_t length) { unless_faulty(file, syscall(SYS_ftruncate, file, length)); }

int ftruncate64(int file, off64_t length) {
    unless_faulty(file, syscall(SYS_ftruncate, file, length));
}
