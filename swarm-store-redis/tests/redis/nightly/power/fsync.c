/* Preloaded into redis-server. After each sync of a file, records the length that the file had before
   the sync in another file, FILE.synced. It is recorded before the sync returns, so the server never
   acknowledges data beyond that length. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void record(int file, int64_t length) {
    char link[64], path[4096 + sizeof ".synced"];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t end = readlink(link, path, 4096);
    if (end < 0) abort();
    snprintf(path + end, sizeof ".synced", ".synced");
    int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (pwrite(out, &length, sizeof length, 0) != sizeof length) abort();
    close(out);
}

static int synced(long call, int file) {
    struct stat before;
    if (fstat(file, &before) != 0) return -1;
    usleep(1000); /* The latency of a disk. */
    if (syscall(call, file) != 0) return -1;
    record(file, before.st_size);
    return 0;
}

int fsync(int file) { return synced(SYS_fsync, file); }

int fdatasync(int file) { return synced(SYS_fdatasync, file); }
